const NAME = /^[A-Za-z][A-Za-z0-9._:/-]{0,127}$/
/** For people. */
const NAME_RULE = '1 to 128 characters of A-Z a-z 0-9 . _ : / -, starting with a letter'
const LANES = new Set<unknown>(['thread', 'shared'])
const OPTIONS = ['name', 'description', 'input', 'output', 'lane', 'maxConcurrent', 'memoryLimitMb', 'run']
/** A thread with a smaller heap does not even start. */
const MIN_MEMORY_MB = 16

/**
 * Checks what an author wrote, in TypeScript or not.
 *
 * @throws TypeError that names the handler, the part and what would be right.
 */
export function checkDefinition(definition: unknown): void {
  const wrong = definitionFault(definition)
  if (wrong !== undefined) throw new TypeError(wrong)
}

/** @returns what is wrong with a definition, for people; undefined = nothing. */
export function definitionFault(definition: unknown): string | undefined {
  if (typeof definition !== 'object' || definition === null)
    return `a handler must be an object { name, run, ... }, got ${definition === null ? 'null' : typeof definition}`
  const { name, description, input, output, lane, maxConcurrent, memoryLimitMb, run } = definition as Record<
    string,
    unknown
  >
  if (typeof name !== 'string') return `a handler needs a name: ${NAME_RULE}`
  if (!NAME.test(name)) return `the handler name ${JSON.stringify(name.slice(0, 140))} must be ${NAME_RULE}`
  const at = `handler '${name}'`
  if (typeof run !== 'function') return `${at}: run must be a function (input, context) => output`
  if (!(description === undefined || typeof description === 'string'))
    return `${at}: description must be text`
  if (!isSchema(input)) return `${at}: input must be a Standard Schema, such as z.object({ ... })`
  if (!isSchema(output)) return `${at}: output must be a Standard Schema, such as z.object({ ... })`
  if (!(lane === undefined || LANES.has(lane)))
    return `${at}: lane must be 'thread' or 'shared', got ${JSON.stringify(lane)}`
  if (!isWhole(maxConcurrent, 0))
    return `${at}: maxConcurrent must be a whole number of 0 (no limit) or more, got ${String(maxConcurrent)}`
  if (!isWhole(memoryLimitMb, MIN_MEMORY_MB))
    return `${at}: memoryLimitMb must be a whole number of ${MIN_MEMORY_MB} or more, got ${String(memoryLimitMb)}`
  if (memoryLimitMb !== undefined && lane === 'shared')
    return `${at}: memoryLimitMb is for lane 'thread'; a shared thread has one heap for all its attempts`
  const unknown = Object.keys(definition).find((key) => !OPTIONS.includes(key))
  if (unknown !== undefined) return `${at}: there is no option '${unknown}'; there are ${OPTIONS.join(', ')}`
  return undefined
}

function isSchema(schema: unknown): boolean {
  if (schema === undefined) return true
  // arktype's schemas are functions
  if (schema === null || (typeof schema !== 'object' && typeof schema !== 'function')) return false
  const standard: unknown = Reflect.get(schema, '~standard')
  return (
    typeof standard === 'object' &&
    standard !== null &&
    typeof Reflect.get(standard, 'validate') === 'function'
  )
}

function isWhole(value: unknown, least: number): boolean {
  return value === undefined || (Number.isSafeInteger(value) && Number(value) >= least)
}
