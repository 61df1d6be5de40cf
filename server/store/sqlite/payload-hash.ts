import { createHash } from 'node:crypto'
import type { Payload } from '../../task/task-spec.js'

/** Tells payloads apart that are no longer kept. JSON is taken by its meaning: the order of keys and the spaces do not count. */
export function payloadHash(payload: Payload): string {
  if (payload.kind === 'forgotten') return payload.hash
  const hash = createHash('sha256').update(payload.kind)
  if (payload.kind === 'json') hash.update(canonical(payload.text))
  else if (payload.kind === 'bytes') hash.update(payload.bytes)
  return hash.digest('base64url')
}

function canonical(json: string): string {
  return JSON.stringify(JSON.parse(json), (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}
