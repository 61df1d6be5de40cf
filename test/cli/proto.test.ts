import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { runCommand } from '../support/fake-terminal.js'

describe('punctual proto', () => {
  it('writes the contract as it is, in the folders that its imports name', async () => {
    const { files, out, exitCode } = await runCommand(['proto', '--out', 'there'])
    const names = readdirSync('proto/punctual/v1').toSorted()
    expect([...files]).toEqual(
      names.map((name) => [`there/punctual/v1/${name}`, readFileSync(`proto/punctual/v1/${name}`, 'utf8')]),
    )
    expect(out).toEqual([...files.keys()])
    expect(exitCode).toBe(0)
  })

  it('needs nothing but what every generator brings', async () => {
    const { files } = await runCommand(['proto', '--out', 'there'])
    const imports = [...files.values()].flatMap((text) =>
      [...text.matchAll(/^import "(.*)";$/gm)].map(([, name = '']) => name),
    )
    for (const name of imports)
      expect(name.startsWith('google/protobuf/') || files.has(`there/${name}`)).toBe(true)
  })

  it('says where it could not write, and ends with 1', async () => {
    const { err, exitCode } = await runCommand(['proto', '--out', '/read-only'])
    expect(err[0]).toMatch(/^punctual: cannot write \/read-only\/punctual\/v1\/\w+\.proto: EROFS/)
    expect(exitCode).toBe(1)
  })

  it('without a folder is a usage error', async () => {
    const { err, exitCode } = await runCommand(['proto'])
    expect(err.join()).toContain('--out <dir>')
    expect(exitCode).toBe(2)
  })
})
