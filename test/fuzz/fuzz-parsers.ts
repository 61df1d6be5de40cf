import * as fc from 'fast-check'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkConfigFile, CONFIG_TEXT, PARSERS } from './parsers.js'

/** @param inputs - For each parser. */
export function fuzzParsers(inputs: number): void {
  describe('a parser refuses in the one way in which it may, and what it takes makes sense', () => {
    it.each(PARSERS)('$name', ({ input, check }) => {
      const whatever = fc.property(input, (one) => check(one as never))
      expect(() => fc.assert(whatever, { numRuns: inputs })).not.toThrow()
    })

    it('files of settings', () => {
      const folder = mkdtempSync(join(tmpdir(), 'punctual-settings-'))
      const file = join(folder, 'settings.toml')
      try {
        const whatever = fc.property(CONFIG_TEXT, (text) => {
          writeFileSync(file, text)
          checkConfigFile(file)
        })
        expect(() => fc.assert(whatever, { numRuns: inputs })).not.toThrow()
      } finally {
        rmSync(folder, { recursive: true })
      }
    })
  })
}
