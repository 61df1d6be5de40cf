import { StoreOpenError } from '../task-store.js'

/** Members whose keys are the users'. */
const OPAQUE = new Set(['labels'])

/** Members whose value is a word of ours. */
const WORDS = new Set([
  'kind',
  'state',
  'lastState',
  'outcome',
  'outcomes',
  'skipReason',
  'cancelStage',
  'overlap',
  'missed',
  'dstGap',
  'dstOverlap',
])

const outside = remembered((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
const inside = remembered((name) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))

/** `dueTime`, `timedOut` as they stand in a file: `due_time`, `timed_out`, as in the `.proto` files. */
export const toFileNames = (value: unknown): unknown => renamed(value, outside)

/**
 * The opposite, for what JSON.parse gave.
 *
 * @throws StoreOpenError for a name that no file has, so that nothing is dropped in silence.
 */
export const fromFileNames = (value: unknown): unknown => renamed(value, fromFile)

/** A key or word as the code has it: the name that its name in a file stands for. */
export const fileName = (name: string): string => outside(name)

function fromFile(name: string): string {
  const known = inside(name)
  if (outside(known) !== name || known === '__proto__')
    throw new StoreOpenError(`'${name}' is no name that an export has`)
  return known
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((member) => renamed(member, rename))
  if (typeof value !== 'object' || value === null) return value
  const object: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    const key = rename(name)
    const camel = inside(name)
    if (OPAQUE.has(camel)) object[key] = labels(member)
    else if (WORDS.has(camel)) object[key] = word(member, rename)
    else object[key] = renamed(member, rename)
  }
  return object
}

function word(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((member) => word(member, rename))
  return typeof value === 'string' ? rename(value) : renamed(value, rename)
}

/** A label of this name would be lost wherever an object is made of them; admission refuses it too. */
function labels(value: unknown): unknown {
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__'))
    throw new StoreOpenError("labels must not have the key '__proto__'")
  return value
}

function remembered(rename: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>()
  return (name) => {
    const before = known.get(name)
    if (before !== undefined) return before
    const renamedName = rename(name)
    // names of a foreign file must not fill the memory
    if (known.size < 1_000) known.set(name, renamedName)
    return renamedName
  }
}
