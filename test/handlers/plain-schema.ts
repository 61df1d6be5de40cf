import type { StandardSchemaV1 } from '@standard-schema/spec'

export type AnySchema = StandardSchemaV1

/** A schema of no library. */
export function createSchema(validate: (value: unknown) => StandardSchemaV1.Result<unknown>): AnySchema {
  return { '~standard': { version: 1, vendor: 'plain', validate } }
}
