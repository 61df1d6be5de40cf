import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HandlerModuleError, loadHandlers } from '../../server/handlers/load-handlers.js'

let folder: string
let modules = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'punctual-handlers-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Writes a module. @returns its path. */
async function moduleOf(code: string, ending = 'mjs'): Promise<string> {
  const path = join(folder, `module-${modules++}.${ending}`)
  await writeFile(path, code)
  return path
}

async function fault(...codes: string[]): Promise<string> {
  const paths = await Promise.all(codes.map((code) => moduleOf(code)))
  const error: unknown = await loadHandlers(paths).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(HandlerModuleError)
  return (error as Error).message
}

const names = async (code: string, ending?: string) => [
  ...(await loadHandlers([await moduleOf(code, ending)])).keys(),
]

describe('handlers are loaded', () => {
  it.each([
    ['a list named handlers', `export const handlers = [{ name: 'a', run() {} }, { name: 'b', run() {} }]`],
    [
      'a record, whatever its keys',
      `export const handlers = { x: { name: 'a', run() {} }, y: { name: 'b', run() {} } }`,
    ],
    ['a default export', `export default [{ name: 'a', run() {} }, { name: 'b', run() {} }]`],
  ])('from %s', async (_, code) => {
    expect(await names(code)).toEqual(['a', 'b'])
  })

  it('from a CommonJS module', async () => {
    expect(await names(`module.exports = { handlers: [{ name: 'a', run() {} }] }`, 'cjs')).toEqual(['a'])
    expect(await names(`exports.handlers = [{ name: 'a', run() {} }]`, 'cjs')).toEqual(['a'])
  })

  it('from a path relative to a folder, a file URL, and several modules', async () => {
    const [one, two] = [
      await moduleOf(`export default [{ name: 'a', run() {} }]`),
      await moduleOf(`export default [{ name: 'b', run() {} }]`),
    ]
    const relative = one.slice(folder.length + 1)
    const loaded = await loadHandlers([relative, pathToFileURL(two)], folder)
    expect([...loaded.keys()]).toEqual(['a', 'b'])
  })

  it('with the defaults filled in', async () => {
    const loaded = await loadHandlers([await moduleOf(`export default [{ name: 'a', run: () => 1 }]`)])
    expect(loaded.get('a')).toMatchObject({ description: '', lane: 'thread', maxConcurrent: 0 })
  })
})

describe('a module that cannot be used is refused, with what is wrong, where, and what would be right:', () => {
  it.each([
    ['no file', './nowhere.mjs', 'there is no handlers module'],
    ['a folder', '.', 'is a folder; give the handlers module in it'],
    [
      'a data URL',
      'data:text/javascript,export default []',
      'data: is not a place for handlers: give a path or a file: URL',
    ],
    ['a web URL', 'https://example.com/x.js', 'https: is not a place for handlers'],
  ])('%s', async (_, module, expected) => {
    await expect(loadHandlers([module], folder)).rejects.toThrow(expected)
  })

  it('one that does not load', async () => {
    expect(await fault(`export const = 1`)).toMatch(/cannot be loaded: \w+Error: /)
    expect(await fault(`throw new TypeError('at its top')`)).toContain(
      'cannot be loaded: TypeError: at its top',
    )
    expect(await fault(`import 'no-such-package'`)).toContain('no-such-package')
  })

  it('one without handlers', async () => {
    expect(await fault(`export const work = 1`)).toContain(
      'exports no handlers (it exports work); write: export const handlers = [',
    )
    expect(await fault('')).toContain('(it exports nothing)')
    expect(await fault('export const handlers = []')).toContain('handlers in ')
    expect(await fault('export const handlers = []')).toContain('is empty')
    expect(await fault(`export const handlers = 'a'`)).toContain('must be a list or record of handlers')
    expect(await fault(`export default { name: 'a', run() {} }`)).toContain(
      'must be a list or record of handlers',
    )
  })

  it.each([
    [`null`, 'must be an object { name, run, ... }, got null'],
    [`{ run() {} }`, 'a handler needs a name: 1 to 128 characters'],
    [
      `{ name: '../../tmp/evil', run() {} }`,
      'must be 1 to 128 characters of A-Z a-z 0-9 . _ : / -, starting with a letter',
    ],
    [`{ name: 'x'.repeat(129), run() {} }`, 'must be 1 to 128 characters'],
    [`{ name: 'a' }`, "handler 'a': run must be a function"],
    [`{ name: 'a', run() {}, lane: 'fast' }`, `lane must be 'thread' or 'shared', got "fast"`],
    [
      `{ name: 'a', run() {}, maxConcurrent: -1 }`,
      'maxConcurrent must be a whole number of 0 (no limit) or more, got -1',
    ],
    [
      `{ name: 'a', run() {}, memoryLimitMb: 1.5 }`,
      'memoryLimitMb must be a whole number of 16 or more, got 1.5',
    ],
    [`{ name: 'a', run() {}, memoryLimitMb: 64, lane: 'shared' }`, "memoryLimitMb is for lane 'thread'"],
    [
      `{ name: 'a', run() {}, input: { type: 'object' } }`,
      'input must be a Standard Schema, such as z.object',
    ],
    [`{ name: 'a', run() {}, output: 1 }`, 'output must be a Standard Schema'],
    [`{ name: 'a', run() {}, description: 1 }`, 'description must be text'],
    [`{ name: 'a', run() {}, timeout: 1 }`, "there is no option 'timeout'; there are name, description"],
  ])('one with the handler %s', async (code, expected) => {
    const message = await fault(`export const handlers = [{ name: 'fine', run() {} }, ${code}]`)
    expect(message).toContain(expected)
    expect(message).toContain('handlers[1] in ')
  })

  it('two handlers of one name, in one module or in two', async () => {
    const twice = `export const handlers = { x: { name: 'a', run() {} }, y: { name: 'a', run() {} } }`
    expect(await fault(twice)).toMatch(
      /the handler name 'a' is taken twice: by handlers\.x in .* and by handlers\.y in /,
    )
    const once = `export default [{ name: 'a', run() {} }]`
    expect(await fault(once, once)).toMatch(
      /by the default export\[0\] in .*mjs and by the default export\[0\] in /,
    )
  })
})
