import * as fc from 'fast-check'
import type { Labels } from '../../server/task/task-spec.js'

/** Labels as they may be kept: admission refuses `__proto__`, which JavaScript programs cannot keep. */
export function anyLabels(text: fc.Arbitrary<string>): fc.Arbitrary<Labels> {
  const key = fc.string({ minLength: 1 }).filter((name) => name !== '__proto__')
  return fc.dictionary(key, text, { maxKeys: 4, noNullPrototype: true })
}
