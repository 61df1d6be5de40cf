const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** Limits that an operator may set. */
export interface AdmissionLimits {
  /** Of one input, as JSON text or bytes. */
  readonly maxInputBytes: number
  /** SCHEDULED tasks; beyond it new ones are refused. */
  readonly maxWaitingTasks: number
  /** Bytes of the store; beyond it new tasks are refused. */
  readonly maxStoreBytes: number
}

export const DEFAULT_LIMITS: AdmissionLimits = Object.freeze({
  maxInputBytes: 1024 * 1024,
  maxWaitingTasks: 10_000_000,
  maxStoreBytes: 64 * 1024 ** 3,
})

/** Limits that are part of the contract: the same on every server. */
export const FIXED_LIMITS = Object.freeze({
  maxBatchTasks: 10_000,
  maxIdChars: 128,
  maxLabels: 32,
  maxLabelKeyChars: 63,
  maxLabelValueChars: 256,
  maxPriority: 100,
  maxConcurrencyKeyBytes: 256,
  maxOriginChars: 128,
  maxRequestIdChars: 128,
  maxTraceparentChars: 128,
  maxTracestateChars: 512,
  maxAttempts: 1_000,
  maxBackoffMs: 366 * DAY,
  maxBackoffMultiplier: 1_000_000_000,
  maxNonRetryableCodes: 32,
  maxErrorCodeChars: 128,
  minRememberIdMs: MINUTE,
  maxRememberIdMs: 366 * DAY,
  maxGraceMs: 60 * MINUTE,
  maxJsonDepth: 30,
})

/** What a task's id may look like. */
export const ID_PATTERN = /^[A-Za-z0-9._:/-]{1,128}$/
/** The same for people. */
export const ID_RULE = '1 to 128 characters of A-Z a-z 0-9 . _ : / -'

/** Two UTF-16 units that are one character. */
const PAIR = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g

/** @returns whether `text` has more than `limit` characters (code points, as a caller counts them). */
export function isLonger(text: string, limit: number): boolean {
  if (text.length <= limit) return false
  return text.length > 2 * limit || text.length - (text.match(PAIR)?.length ?? 0) > limit
}

/** @returns whether `text` takes more than `limit` bytes as UTF-8. */
export function isBigger(text: string, limit: number): boolean {
  return text.length * 3 > limit && Buffer.byteLength(text) > limit
}
