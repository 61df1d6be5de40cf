import { DatabaseSync } from '@photostructure/sqlite'

/** Lets a copy of a store make a log id of its own at its first start, and makes it one whole file, without a write-ahead log. */
export function forgetLogId(file: string): void {
  const copy = new DatabaseSync(file)
  try {
    copy.exec("PRAGMA journal_mode = DELETE; DELETE FROM meta WHERE key = 'log_id'")
  } finally {
    copy.close()
  }
}
