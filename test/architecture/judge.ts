import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { MAX_LINES, RESERVED, type Reserved, ROOMS, type RoomRules, VAGUE_NAMES } from './house-rules.js'
import type { Import, SourceFile } from './source-file.js'

/** What a file does against the rules of the house, one sentence each; none for a file that keeps them. */
export function judge(file: SourceFile): string[] {
  const room = roomOf(file.path)
  const rules = ROOMS[room]
  if (rules === undefined)
    return [`${file.path}: there is no room ${room}; a new one is a decision, see house-rules.ts`]
  return [
    ...file.imports.flatMap((found) => judgeImport(file, room, rules, found)),
    ...RESERVED.flatMap((reserved) => judgeReserved(file, reserved)),
    ...judgeShape(file),
  ]
}

function judgeImport(file: SourceFile, room: string, rules: RoomRules, found: Import): string[] {
  const at = `${file.path}:${found.line}`
  if (!found.from.startsWith('.')) {
    const name = packageOf(found.from)
    if (rules.packages === undefined || rules.packages.includes(name)) return []
    return [`${at} imports ${name}: of packages, ${room} may import ${list(rules.packages)}`]
  }
  const target = posix.join(posix.dirname(file.path), found.from)
  if (isWithin(target, [room, ...rules.imports])) return []
  if (found.typeOnly && isWithin(target, rules.types ?? [])) return []
  const types = rules.types === undefined ? '' : `, and types of ${list(rules.types)}`
  return [`${at} imports ${target}: ${room} may import ${list(rules.imports)}${types}`]
}

function judgeReserved(
  file: SourceFile,
  { what, within, only, instead, globals, packages }: Reserved,
): string[] {
  if (!isWithin(file.path, within) || isWithin(file.path, only)) return []
  const uses = file.globals.filter(({ name }) => globals?.includes(name.replace(/^globalThis\./, '')))
  const imports = file.imports.filter((found) =>
    [found.from, ...found.names.map((name) => `${found.from}#${name}`)].some((it) => packages?.includes(it)),
  )
  const lines = new Set([...uses, ...imports].map(({ line }) => line))
  return [...lines].map(
    (line) => `${file.path}:${line} touches ${what}, which is for ${list(only)} alone: ${instead}`,
  )
}

function judgeShape(file: SourceFile): string[] {
  if (isWithin(file.path, ['proto/generated'])) return []
  const { path, lineCount, anyLines } = file
  const words = posix.basename(path).split(/[-.]/)
  return [
    ...(lineCount > MAX_LINES
      ? [`${path} has ${lineCount} lines, more than ${MAX_LINES}: split it by concept`]
      : []),
    ...anyLines.map((line) => `${path}:${line} says any: say what it is, or unknown`),
    ...words
      .filter((word) => VAGUE_NAMES.includes(word))
      .map((word) => `${path}: "${word}" hides what the file is about; name it after what it exports`),
  ]
}

/** The room of a file: `server/task` for server/task/retry.ts, `server/clock` for server/clock.ts, else its top folder. */
function roomOf(path: string): string {
  const [first = '', second = ''] = path.split('/')
  return first === 'server' || first === 'proto' ? `${first}/${withoutEnding(second)}` : first
}

function isWithin(path: string, places: readonly string[]): boolean {
  return places.some((place) => withoutEnding(path) === place || path.startsWith(`${place}/`))
}

function withoutEnding(path: string): string {
  return path.replace(/\.[jt]s$/, '')
}

/** `punctual` for punctual/handlers; `node:` for every module of Node's own. */
function packageOf(specifier: string): string {
  if (isBuiltin(specifier)) return 'node:'
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ')
}
