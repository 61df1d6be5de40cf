import { jsonPath, type PathStep } from '../admission/json-path.js'
import { FIXED_LIMITS } from '../admission/limits.js'
import type { Violation } from '../task/errors.js'
import type { WireReader } from './wire-reader.js'

/**
 * Turns the bytes of a `google.protobuf.Value` into JSON text, in one pass: the server keeps payloads as text, and generated code would drop keys named
 * `__proto__`, take NaN for a number and give up at 50 levels.
 *
 * @param end - Where the message ends.
 * @param field - Where it stands, such as `task.input`: paths of violations go on from there.
 * @throws BrokenMessageError when the bytes are no Value.
 */
export function readValueAsJson(reader: WireReader, end: number, field: string, found: Violation[]): string {
  const path: PathStep[] = []
  const wrong = (description: string): void => {
    if (found.length < MAX_FOUND) found.push({ field: field + jsonPath(path), description })
  }
  return readValue({ reader, path, wrong }, end)
}

const MAX_FOUND = 100

interface Walk {
  readonly reader: WireReader
  readonly path: PathStep[]
  readonly wrong: (description: string) => void
}

function readValue(walk: Walk, end: number): string {
  const { reader, wrong } = walk
  let json: string | undefined
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === 8) {
      reader.uint32()
      json = 'null'
    } else if (tag === 17) json = numberText(reader.double(), wrong)
    else if (tag === 26) json = JSON.stringify(readText(walk))
    else if (tag === 32) json = reader.bool() ? 'true' : 'false'
    else if (tag === 42) json = readNested(walk, reader.end(end), readStruct)
    else if (tag === 50) json = readNested(walk, reader.end(end), readList)
    else reader.skipField(tag)
  }
  reader.expectEnd(end)
  if (json === undefined) wrong('is a Value without a kind: for null send null_value')
  return json ?? 'null'
}

function readNested(walk: Walk, end: number, read: (walk: Walk, end: number) => string): string {
  const { reader, path, wrong } = walk
  if (path.length < FIXED_LIMITS.maxJsonDepth) return read(walk, end)
  wrong(`is nested deeper than ${FIXED_LIMITS.maxJsonDepth} levels`)
  reader.pos = end
  return 'null'
}

function readList(walk: Walk, end: number): string {
  const { reader, path } = walk
  let json = '['
  let index = 0
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag !== 10) {
      reader.skipField(tag)
      continue
    }
    path.push(index)
    if (index++ > 0) json += ','
    json += readValue(walk, reader.end(end))
    path.pop()
  }
  reader.expectEnd(end)
  return `${json}]`
}

function readStruct(walk: Walk, end: number): string {
  const { reader } = walk
  let json = '{'
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag !== 10) {
      reader.skipField(tag)
      continue
    }
    if (json.length > 1) json += ','
    json += readEntry(walk, reader.end(end))
  }
  reader.expectEnd(end)
  return `${json}}`
}

/** A key and its value. Every encoder writes the key first; one that did not would only get a path without it. */
function readEntry(walk: Walk, end: number): string {
  const { reader, path, wrong } = walk
  let key = ''
  let json: string | undefined
  path.push(key)
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === 10) {
      key = readText(walk)
      path[path.length - 1] = key
    } else if (tag === 18) json = readValue(walk, reader.end(end))
    else reader.skipField(tag)
  }
  reader.expectEnd(end)
  if (key === '__proto__') wrong('is a key that JavaScript programs cannot keep: rename it')
  if (json === undefined) wrong('is a Value without a kind: for null send null_value')
  path.pop()
  return `${JSON.stringify(key)}:${json ?? 'null'}`
}

function readText({ reader, wrong }: Walk): string {
  const text = reader.string()
  if (reader.badText) {
    reader.badText = false
    wrong('is not valid UTF-8 text')
  }
  return text
}

function numberText(value: number, wrong: (description: string) => void): string {
  if (!Number.isFinite(value)) wrong(`is ${value}, which JSON does not have: send null or a string`)
  return JSON.stringify(value)
}
