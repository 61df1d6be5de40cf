import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fillStore } from '../store/filled-store.js'
import { sqliteStore, temporaryFolder } from '../store/sqlite-worlds.js'
import { FakeTerminal, runCommand } from '../support/fake-terminal.js'

let folder: string
let data: string
let to: string
beforeEach(async () => {
  folder = temporaryFolder()
  data = join(folder, 'data')
  to = join(folder, 'copy.db')
  const store = sqliteStore({ folder: data })
  await store.open()
  await fillStore(store)
  await store.close()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const damage = (): void => {
  const connection = new DatabaseSync(join(data, 'punctual.db'))
  connection.exec("DELETE FROM waiting WHERE id = 'far'")
  connection.close()
}

describe('punctual backup', () => {
  it('says where the copy is and how large; without a terminal no bar', async () => {
    const { out, err, progress, exitCode } = await runCommand(['backup', '--data', data, to])
    expect(out).toEqual([expect.stringMatching(/copy\.db: [\d,]+ bytes$/)])
    expect({ err, progress, exitCode }).toEqual({ err: [], progress: [], exitCode: 0 })
    expect(existsSync(to)).toBe(true)
  })

  it('with --json prints one object', async () => {
    const { out } = await runCommand(['backup', '--data', data, to, '--json'])
    expect(out.map((line) => JSON.parse(line) as unknown)).toEqual([{ file: to, bytes: statSync(to).size }])
  })

  it('that cannot be made ends with 1 and one line', async () => {
    writeFileSync(to, '')
    const { err, exitCode } = await runCommand(['backup', '--data', data, to])
    expect({ err, exitCode }).toEqual({
      err: [`punctual: ${to} exists already; a backup overwrites nothing`],
      exitCode: 1,
    })
  })

  it('without the data folder is a usage error', async () => {
    const { err, exitCode } = await runCommand(['backup', to])
    expect(err.join()).toContain('--data <folder>')
    expect(exitCode).toBe(2)
  })
})

describe('punctual check', () => {
  it('shows what must hold, how much was looked at, and that it holds', async () => {
    const { out, err, exitCode } = await runCommand(['check', data])
    expect({ err, exitCode }).toEqual({ err: [], exitCode: 0 })
    expect(out.join('\n')).toMatchInlineSnapshot(`
      "what must hold                                                 checked
      the file is sound                                              1        holds
      a remembered id has its task in exactly one place              10       holds
      each task in near has its id remembered                        3        holds
      each task in waiting has its id remembered                     3        holds
      each task in ended has its id remembered                       4        holds
      the log has no hole but what retention took                    5        holds
      each entry of the log can be read                              5        holds
      the log is as long as counted                                  2        holds
      each task in near can be read and is found by what it says     3        holds
      each task in waiting can be read and is found by what it says  3        holds
      start ids come before the next one                             6        holds
      each ended task is where the log has it                        4        holds
      each earlier run has its result in the log                     1        holds
      tasks are as many as counted, state by state                   6        holds
      each durable consumer stands within the log                    1        holds"
    `)
  })

  it('shows a person how far it is', async () => {
    const terminal = new FakeTerminal()
    terminal.isProgressSeen = true
    const { progress, isProgressHidden } = await runCommand(['check', data], { terminal })
    expect(progress[0]).toBe(`checking the file  ${'─'.repeat(30)}  0 %`)
    expect(progress.length).toBeGreaterThan(3)
    expect(isProgressHidden).toBe(true)
  })

  it('ends with 1 when something is wrong, and says what on stderr', async () => {
    damage()
    const { out, err, exitCode } = await runCommand(['check', data])
    expect(out.join('\n')).toContain('1 broken')
    expect(err).toContainEqual(
      'punctual: not so: a remembered id has its task in exactly one place: far (arrival 3) is in none',
    )
    expect(exitCode).toBe(1)
  })

  it('with --json prints an object for each invariant', async () => {
    damage()
    const { out } = await runCommand(['check', data, '--json'])
    expect(out.map((line) => JSON.parse(line) as unknown)).toContainEqual({
      invariant: 'a remembered id has its task in exactly one place',
      checked: 10,
      broken: 1,
      examples: ['far (arrival 3) is in none'],
    })
  })

  it('of a folder without a store says so', async () => {
    mkdirSync(join(folder, 'empty'))
    const { err, exitCode } = await runCommand(['check', join(folder, 'empty')])
    expect(err[0]).toMatch(/^punctual: there is no store in .*empty/)
    expect(exitCode).toBe(1)
  })
})

describe('punctual export and import', () => {
  const line = (text: string): { type: string } => JSON.parse(text) as { type: string }

  it('write lines to stdout, and make a store of them from stdin', async () => {
    const terminal = await runCommand(['export', data])
    expect({ err: terminal.err, exitCode: terminal.exitCode }).toEqual({ err: [], exitCode: 0 })
    const lines = terminal.written.trimEnd().split('\n')
    expect([line(lines[0] ?? '').type, line(lines.at(-1) ?? '').type]).toEqual(['export', 'end'])
    const reader = new FakeTerminal()
    reader.stdin = terminal.written
    const moved = join(folder, 'moved')
    await runCommand(['import', '--data', moved], { terminal: reader })
    expect(reader.out).toEqual([`${moved}: 14 lines`])
    expect((await runCommand(['export', moved])).written).toBe(terminal.written)
  })

  it('write a file that does not exist, and read it; with --json one object each', async () => {
    const out = join(folder, 'all.jsonl')
    const { out: said } = await runCommand(['export', data, '--out', out])
    expect(said).toEqual([`${out}: 14 lines, ${statSync(out).size.toLocaleString('en-US')} bytes`])
    const again = await runCommand(['export', data, '--out', out])
    expect(again).toMatchObject({
      err: [`punctual: ${out} exists already; an export overwrites nothing`],
      exitCode: 1,
    })
    const moved = join(folder, 'moved')
    const { out: told } = await runCommand(['import', '--data', moved, out, '--json'])
    expect(told.map((text) => JSON.parse(text) as unknown)).toEqual([{ data: moved, lines: 14 }])
  })

  it('name the line that is wrong, and leave nothing', async () => {
    const terminal = new FakeTerminal()
    terminal.stdin = '{"type":"export"}\n'
    const { err, exitCode } = await runCommand(['import', '--data', join(folder, 'new'), '-'], { terminal })
    expect({ err, exitCode }).toEqual({
      err: ['punctual: line 1: format is missing; this version reads 1'],
      exitCode: 1,
    })
    expect(existsSync(join(folder, 'new', 'punctual.db'))).toBe(false)
  })

  it('say in one line what cannot be read', async () => {
    const { err, exitCode } = await runCommand([
      'import',
      '--data',
      join(folder, 'new'),
      join(folder, 'no.jsonl'),
    ])
    expect(err).toEqual([expect.stringMatching(/^punctual: ENOENT: .*no\.jsonl'$/)])
    expect(exitCode).toBe(1)
  })

  it('show a person how far they are, but not between the lines of an export', async () => {
    const seen = (): FakeTerminal => Object.assign(new FakeTerminal(), { isProgressSeen: true })
    const piped = await runCommand(['export', data], { terminal: seen() })
    expect(piped.progress.at(-1)).toBe(`exporting  ${'█'.repeat(30)}  100 %`)
    const onScreen = Object.assign(seen(), { isTerminal: true })
    expect((await runCommand(['export', data], { terminal: onScreen })).progress).toEqual([])
    const reader = seen()
    reader.stdin = piped.written
    await runCommand(['import', '--data', join(folder, 'moved')], { terminal: reader })
    expect(reader.progress.at(-1)).toMatch(/^checking counts  █+─  95 %$/)
  })
})
