import type { Connection } from '../connection.js'
import { type Finding, Tally } from './tally.js'

/** SQLite's own check: pages, order of rows, and that each index holds what its table holds. */
export function checkFile(connection: Connection): readonly Finding[] {
  const sound = new Tally('the file is sound')
  const rows = connection.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[]
  for (const { integrity_check: text } of rows) sound.note(text === 'ok' ? undefined : text)
  return [sound]
}
