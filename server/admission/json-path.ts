/** A key of an object, or an index of an array. */
export type PathStep = string | number

const PLAIN_KEY = /^[A-Za-z_][\w-]{0,63}$/
const MAX_KEY = 64

/**
 * A path inside a JSON value, for people.
 *
 * @example jsonPath(['items', 3, 'odd key']) // .items[3]["odd key"]
 */
export function jsonPath(steps: readonly PathStep[]): string {
  return steps.map(written).join('')
}

function written(step: PathStep): string {
  if (typeof step === 'number') return `[${step}]`
  if (PLAIN_KEY.test(step)) return `.${step}`
  return `[${JSON.stringify(step.length > MAX_KEY ? `${step.slice(0, MAX_KEY)}…` : step)}]`
}
