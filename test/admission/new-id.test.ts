import { describe, expect, it } from 'vitest'
import { ID_PATTERN } from '../../server/admission/limits.js'
import { newId } from '../../server/admission/new-id.js'

const NOW = Date.parse('2027-03-14T06:30:00.123Z')

describe('an id that the server makes', () => {
  it('is a UUIDv7, and no other ever', () => {
    const ids = Array.from({ length: 10_000 }, () => newId(NOW))
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids.slice(0, 300)) {
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
      expect(id).toMatch(ID_PATTERN)
    }
  })

  it('begins with the millisecond in which it was made', () => {
    const [high = '', low = ''] = newId(NOW).split('-')
    expect(Number.parseInt(high + low, 16)).toBe(NOW)
  })
})
