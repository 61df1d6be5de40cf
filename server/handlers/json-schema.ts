import type { StandardSchemaV1 } from '@standard-schema/spec'

type JsonSchema = Readonly<Record<string, unknown>>

const TARGET = { target: 'draft-2020-12' } as const
/** A schema that is larger would burden every ListHandlers. */
const MAX_BYTES = 64 * 1024

/**
 * The JSON Schema of a Standard Schema, where its library can give one: by Standard JSON Schema (zod from 4.2, arktype from 2.1.28, ...) or by a method of
 * the schema itself. Undefined where it cannot: valibot's converter is a package of its own, and a transform has no JSON Schema.
 */
export function jsonSchemaOf(
  schema: StandardSchemaV1 | undefined,
  side: 'input' | 'output',
): JsonSchema | undefined {
  if (schema === undefined) return undefined
  return (
    fromStandard(schema, side) ??
    fromMethod(schema, 'toJSONSchema', side) ??
    fromMethod(schema, 'toJsonSchema', side)
  )
}

function fromStandard(schema: StandardSchemaV1, side: 'input' | 'output'): JsonSchema | undefined {
  const converter: unknown = Reflect.get(schema['~standard'], 'jsonSchema')
  if (typeof converter !== 'object' || converter === null) return undefined
  return called(converter, side, TARGET)
}

function fromMethod(
  schema: StandardSchemaV1,
  method: string,
  side: 'input' | 'output',
): JsonSchema | undefined {
  return called(schema, method, { io: side })
}

function called(owner: object, method: string, options: object): JsonSchema | undefined {
  const convert: unknown = Reflect.get(owner, method)
  if (typeof convert !== 'function') return undefined
  try {
    // Only what survives as JSON is worth sending; libraries hang functions and cycles on their schemas.
    const text = JSON.stringify(convert.call(owner, options))
    if (text === undefined || text.length > MAX_BYTES) return undefined
    const plain: unknown = JSON.parse(text)
    return typeof plain === 'object' && plain !== null && !Array.isArray(plain)
      ? (plain as JsonSchema)
      : undefined
  } catch {
    // Libraries throw for what JSON Schema cannot say.
    return undefined
  }
}
