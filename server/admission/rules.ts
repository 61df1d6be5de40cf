import type { Instant } from '../task/instant.js'
import { LAST_DUE_TIME } from '../task/recurrence/recurrence.js'
import { DEFAULT_RETRY } from '../task/retry.js'
import { checkJson } from './json-rules.js'
import { type AdmissionLimits, FIXED_LIMITS, ID_PATTERN, ID_RULE, isBigger, isLonger } from './limits.js'
import { checkRetry } from './retry-rules.js'
import type { ScheduleCall } from './schedule-call.js'

const FIXED = FIXED_LIMITS

/**
 * Adds every violation of a spec to the call's own, each with its field's path and what would be right. Whether the handler exists and likes the input is not
 * looked at here.
 *
 * @param now - From it a delay is counted.
 */
export function checkCall(call: ScheduleCall, limits: AdmissionLimits, now: Instant): void {
  const { spec, violations } = call
  const wrong = (field: string, description: string): void => {
    violations.push({ field, description })
  }
  if (spec.id !== '' && !ID_PATTERN.test(spec.id))
    wrong('task.id', `must be ${ID_RULE}, or empty for a new id`)
  if (spec.handler === '') wrong('task.handler', 'is required: the name of a handler, see ListHandlers')
  checkPayload(call, limits)
  if (spec.when.kind === 'after' && now + spec.when.delayMs > LAST_DUE_TIME) {
    wrong('task.delay', 'must end before the year 10000')
  }
  if (spec.retry.maxAttempts > 1 && spec.atMostOnce) {
    wrong('task.at_most_once', 'cannot be combined with retry.max_attempts > 1: leave one of them out')
  }
  // most tasks bring none of their own
  if (spec.retry !== DEFAULT_RETRY) checkRetry(spec.retry, wrong)
  if (spec.startWithinMs !== undefined && spec.startWithinMs < 1) {
    wrong('task.start_within', 'must be at least 1 ms; unset = never expires')
  }
  if (Math.abs(spec.priority) > FIXED.maxPriority) {
    wrong('task.priority', `must be from -${FIXED.maxPriority} to ${FIXED.maxPriority}, got ${spec.priority}`)
  }
  if (isBigger(spec.concurrencyKey, FIXED.maxConcurrencyKeyBytes)) {
    wrong('task.concurrency_key', `must be at most ${FIXED.maxConcurrencyKeyBytes} bytes`)
  }
  checkLabels(spec.labels, wrong)
  if (isLonger(spec.origin, FIXED.maxOriginChars)) {
    wrong('task.origin', `must be at most ${FIXED.maxOriginChars} characters`)
  }
  if (isLonger(spec.traceparent, FIXED.maxTraceparentChars)) {
    wrong('task.traceparent', `must be at most ${FIXED.maxTraceparentChars} characters`)
  }
  if (isLonger(spec.tracestate, FIXED.maxTracestateChars)) {
    wrong('task.tracestate', `must be at most ${FIXED.maxTracestateChars} characters`)
  }
  if (spec.rememberIdForMs < FIXED.minRememberIdMs || spec.rememberIdForMs > FIXED.maxRememberIdMs) {
    wrong('task.remember_id_for', 'must be from 1 min to 366 days')
  }
  if (isLonger(call.requestId, FIXED.maxRequestIdChars)) {
    wrong('request_id', `must be at most ${FIXED.maxRequestIdChars} characters`)
  }
}

function checkPayload({ spec, payloadField, violations }: ScheduleCall, limits: AdmissionLimits): void {
  const { payload } = spec
  // no caller can send what was forgotten
  if (payload.kind === 'none' || payload.kind === 'forgotten') return
  const tooBig =
    payload.kind === 'json'
      ? isBigger(payload.text, limits.maxInputBytes)
      : payload.bytes.byteLength > limits.maxInputBytes
  if (tooBig) {
    const as = payload.kind === 'json' ? ' as JSON text' : ''
    violations.push({
      field: payloadField,
      description: `must be at most ${limits.maxInputBytes} bytes${as}: store large data elsewhere and send where it is`,
    })
  } else if (payload.kind === 'json' && payloadField === 'task.input_json') {
    // a Value was checked while it became text
    checkJson(payload.text, payloadField, violations)
  }
}

function checkLabels(
  labels: Readonly<Record<string, string>>,
  wrong: (field: string, description: string) => void,
): void {
  let count = 0
  for (const key in labels) {
    count += 1
    if (key === '' || isLonger(key, FIXED.maxLabelKeyChars)) {
      wrong(
        'task.labels',
        `keys must be 1 to ${FIXED.maxLabelKeyChars} characters, got ${JSON.stringify(key.slice(0, 80))}`,
      )
    }
    if (isLonger(labels[key] ?? '', FIXED.maxLabelValueChars)) {
      wrong(
        `task.labels[${JSON.stringify(key.slice(0, 63))}]`,
        `must be at most ${FIXED.maxLabelValueChars} characters`,
      )
    }
  }
  if (count > FIXED.maxLabels) wrong('task.labels', `must be at most ${FIXED.maxLabels} labels, got ${count}`)
}
