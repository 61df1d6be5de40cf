import type { StandardSchemaV1 } from '@standard-schema/spec'

/** What a schema says of a value: the value to use instead, or what is wrong with it. */
export type SchemaAnswer =
  | { readonly value: unknown }
  | { readonly faults: readonly { readonly path: string; readonly message: string }[] }

const PLAIN_KEY = /^[A-Za-z_$][\w$]{0,63}$/
const MAX_FAULTS = 20

/** Asks a schema. Synchronous when the schema is. A schema that throws is a fault of the value as a whole: it must not stop a caller's batch. */
export function askSchema(
  schema: StandardSchemaV1 | undefined,
  value: unknown,
): SchemaAnswer | Promise<SchemaAnswer> {
  if (schema === undefined) return { value }
  try {
    const result = schema['~standard'].validate(value)
    return result instanceof Promise ? result.then(answer, thrown) : answer(result)
  } catch (error) {
    return thrown(error)
  }
}

function answer(result: StandardSchemaV1.Result<unknown>): SchemaAnswer {
  if (result.issues === undefined) return { value: result.value }
  const faults = result.issues
    .slice(0, MAX_FAULTS)
    .map(({ message, path }) => ({ path: pathText(path ?? []), message }))
  return { faults: faults.length === 0 ? [{ path: '', message: 'is not valid' }] : faults }
}

function thrown(error: unknown): SchemaAnswer {
  return {
    faults: [
      { path: '', message: `its schema threw: ${error instanceof Error ? error.message : typeof error}` },
    ],
  }
}

/** @example pathText(['items', 3, 'odd key']) // .items[3]["odd key"] */
export function pathText(path: readonly (PropertyKey | StandardSchemaV1.PathSegment)[]): string {
  return path
    .map((step) => (typeof step === 'object' ? step.key : step))
    .map((key) => {
      if (typeof key === 'number') return `[${key}]`
      const text = String(key)
      return PLAIN_KEY.test(text) ? `.${text}` : `[${JSON.stringify(text.slice(0, 64))}]`
    })
    .join('')
}
