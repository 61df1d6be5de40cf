import { createHash } from 'node:crypto'
import type { TaskQuery } from '../store/task-store.js'
import { InvalidRequestError } from '../task/errors.js'

/** Where a page starts: after this (due time, id). */
export type PageKey = NonNullable<TaskQuery['after']>
/** What the pages of one list share. */
export type ListFilter = Omit<TaskQuery, 'after' | 'limit'>

/** Makes the token of the next page: a key, not a number of rows, so that tasks that come and go meanwhile shift nothing. */
export function toPageToken(key: PageKey, filter: ListFilter): string {
  return Buffer.from(JSON.stringify([key.dueTime, key.id, hashOf(filter)])).toString('base64url')
}

/**
 * The key that a token holds.
 *
 * @throws InvalidRequestError for a text that is no token, or the token of a list with another filter.
 */
export function fromPageToken(token: string, filter: ListFilter): PageKey {
  const [dueTime, id, hash] = parse(token)
  if (typeof dueTime !== 'number' || !Number.isSafeInteger(dueTime) || typeof id !== 'string') {
    throw wrong(
      'is no page token: send next_page_token exactly as it came, or leave it out for the first page',
    )
  }
  if (hash !== hashOf(filter))
    throw wrong('belongs to a list with another filter: repeat the filter, or begin anew')
  return { dueTime, id }
}

function parse(token: string): readonly unknown[] {
  if (token.length > 1_000) return []
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}

function wrong(description: string): InvalidRequestError {
  return new InvalidRequestError([{ field: 'page_token', description }], 'INVALID_REQUEST')
}

/** The order in which a filter names states, handlers or labels does not matter. */
function hashOf({ states, handlers, labels, dueFrom, dueBefore }: ListFilter): string {
  const pairs = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const plain = [states.toSorted(), handlers.toSorted(), pairs, dueFrom ?? null, dueBefore ?? null]
  return createHash('sha256').update(JSON.stringify(plain)).digest('base64url').slice(0, 12)
}
