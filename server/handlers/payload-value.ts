import type { Payload } from '../task/task-spec.js'

/** The value that a handler or its schema gets for a stored payload: bytes as a Uint8Array, none as undefined. */
export function payloadValue(payload: Payload): { readonly value: unknown } | { readonly fault: string } {
  if (payload.kind === 'none') return { value: undefined }
  if (payload.kind === 'bytes') return { value: payload.bytes }
  if (payload.kind === 'forgotten') return { fault: 'is no longer kept' }
  try {
    return { value: JSON.parse(payload.text) as unknown }
  } catch (error) {
    return { fault: `is not JSON: ${error instanceof Error ? error.message : 'unreadable'}` }
  }
}
