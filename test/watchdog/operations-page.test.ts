import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SETTINGS, flagOf } from '../../server/config/settings.js'
import { METRICS } from '../../server/telemetry/metric-list.js'
import { FINDING_KINDS } from '../../server/watchdog/findings.js'

const page = readFileSync('docs/operations.md', 'utf8')
const proto = readFileSync('proto/punctual/v1/scheduler_service.proto', 'utf8')

/** As Prometheus spells it: dots are underscores, and the unit of a count of seconds or bytes is at the end. */
const spelt = (name: string): string => name.replaceAll('.', '_')

describe('docs/operations.md', () => {
  it.each(FINDING_KINDS)('says what %s means', (kind) => {
    expect(page).toContain(`| \`${kind}\` |`)
  })

  it('names metrics that there are', () => {
    const known = Object.values(METRICS).map(({ name }) => spelt(name))
    const named = [...page.matchAll(/`(punctual_[a-z_]+)/g)].map(([, name = '']) => name)
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((name) => !known.some((one) => name.startsWith(one)))).toEqual([])
  })

  it('names settings that there are', () => {
    const known = new Set(Object.keys(SETTINGS).map((name) => `--${flagOf(name)}`))
    // those of other commands stand behind their command
    const named = [...page.matchAll(/`(--[a-z-]+)[` ]/g)].map(([, flag = '']) => flag)
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((flag) => !known.has(flag))).toEqual([])
  })
})

describe('the contract', () => {
  it('names kinds of findings that there are', () => {
    const [, examples = ''] =
      /Such as ([A-Z_, ]+)\./.exec(proto.slice(proto.indexOf('message Finding'))) ?? []
    const named = examples.split(', ')
    expect(named.length).toBeGreaterThan(3)
    expect(named.filter((kind) => !FINDING_KINDS.some((one) => one === kind))).toEqual([])
  })
})
