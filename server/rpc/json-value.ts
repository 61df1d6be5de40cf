/**
 * A Value takes up to six times the bytes of the same JSON text (11 for each small number). A message over 4 MiB is refused by most clients, and a stream could then
 * never get past it; so a larger Value is sent as text instead.
 */
const MAX_VALUE_BYTES = 2 * 1024 * 1024
/** Below this no text can become so large a Value. */
const SURELY_SMALL = MAX_VALUE_BYTES / 8

/** Bytes of a key-value or list entry beyond its content: tags and lengths, generously. */
const ENTRY_BYTES = 8

/**
 * What a JSON text says, if that is fit to be sent as a `google.protobuf.Value`.
 *
 * @returns undefined when it would be too large: send the text.
 */
export function asValue(text: string): { readonly json: unknown } | undefined {
  const json: unknown = JSON.parse(text)
  if (text.length > SURELY_SMALL && valueBytes(json) > MAX_VALUE_BYTES) return undefined
  return { json }
}

/** About how many bytes the Value takes; never too few. */
function valueBytes(json: unknown): number {
  if (typeof json === 'string') return ENTRY_BYTES + Buffer.byteLength(json)
  if (typeof json !== 'object' || json === null) return ENTRY_BYTES + 8
  const inner = Array.isArray(json)
    ? json.map((item: unknown) => ENTRY_BYTES + valueBytes(item))
    : Object.entries(json).map(([key, value]) => 2 * ENTRY_BYTES + Buffer.byteLength(key) + valueBytes(value))
  return inner.reduce((sum, bytes) => sum + bytes, ENTRY_BYTES)
}
