const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * An id as it travels in a JSON list of a set statement: a canonical UUID as '!' and its digits, which `ID_FROM_KEY` turns into 16 bytes; any other id as it is
 * ('!' is not allowed in ids). Distinct ids stay distinct: text and bytes never compare equal.
 */
export function idKey(id: string): string {
  return id.length === 36 && UUID.test(id)
    ? `!${id.slice(0, 8)}${id.slice(9, 13)}${id.slice(14, 18)}${id.slice(19, 23)}${id.slice(24)}`
    : id
}

/** SQL: the stored form of the key in `expression`. */
export const idFromKey = (expression: string): string =>
  `CASE substr(${expression}, 1, 1) WHEN '!' THEN unhex(substr(${expression}, 2)) ELSE ${expression} END`

/** The id for its stored form. */
export function idOf(stored: unknown): string {
  if (typeof stored === 'string') return stored
  const hex = Buffer.from(stored as Uint8Array).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** The stored form, for a statement of its own. */
export function storedId(id: string): string | Uint8Array {
  const key = idKey(id)
  return key.startsWith('!') ? Buffer.from(key.slice(1), 'hex') : key
}
