import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreOpenError } from '../task-store.js'

/**
 * Makes a file that gets its name when it is whole and on disk; when that fails nothing is left.
 *
 * @param to - Does not exist; its folder does.
 * @param what - Makes it, for people: `a backup`.
 * @param write - Given the name that the file has meanwhile.
 * @throws StoreOpenError when something is at `to` already.
 */
export async function wholeFile<T>(
  to: string,
  what: string,
  write: (partial: string) => Promise<T>,
): Promise<T> {
  mustNotExist(to, what)
  const partial = `${to}.partial-${randomUUID().slice(0, 8)}`
  try {
    const written = await write(partial)
    sync(partial)
    mustNotExist(to, what)
    renameSync(partial, to)
    sync(dirname(to))
    return written
  } catch (error) {
    for (const ending of ['', '-journal', '-wal', '-shm']) rmSync(partial + ending, { force: true })
    throw error
  }
}

function mustNotExist(to: string, what: string): void {
  if (existsSync(to)) throw new StoreOpenError(`${to} exists already; ${what} overwrites nothing`)
  if (!existsSync(dirname(to))) throw new StoreOpenError(`there is no folder ${dirname(to)}`)
}

function sync(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
