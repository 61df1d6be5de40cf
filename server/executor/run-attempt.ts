import type { Handler } from '../handlers/define-handler.js'
import type { HandlerContext } from '../handlers/handler-context.js'
import { payloadValue } from '../handlers/payload-value.js'
import { askSchema, type SchemaAnswer } from '../handlers/schema-check.js'
import { type AttemptOutcome, ERROR_CODES } from '../task/outcome.js'
import type { Payload } from '../task/task-spec.js'
import { failure, failureOf } from './outcome-of.js'
import { outputPayload } from './output-payload.js'

/** An outcome that the handler alone decides. */
export type OwnOutcome = Extract<AttemptOutcome, { kind: 'succeeded' | 'failed' }>

/**
 * Runs a handler once: checks the stored input, calls it with the schema's value, checks what it returns, and gives the outcome as plain data. Never throws.
 * Synchronous when handler and schemas are, so that a burst of short attempts pays no promise.
 *
 * @param maxOutputBytes - Of the output, as JSON text or bytes.
 */
export function runAttempt(
  handler: Handler,
  payload: Payload,
  context: HandlerContext,
  maxOutputBytes: number,
): OwnOutcome | Promise<OwnOutcome> {
  const read = payloadValue(payload)
  if ('fault' in read) return invalidInput(`input ${read.fault}`)
  const answer = askSchema(handler.input, read.value)
  return answer instanceof Promise
    ? answer.then((input) => callHandler(handler, input, context, maxOutputBytes))
    : callHandler(handler, answer, context, maxOutputBytes)
}

function callHandler(
  handler: Handler,
  answer: SchemaAnswer,
  context: HandlerContext,
  maxOutputBytes: number,
): OwnOutcome | Promise<OwnOutcome> {
  if ('faults' in answer) return invalidInput(faultText('input', answer))
  try {
    const returned = handler.run(answer.value, context)
    if (!isThenable(returned)) return checkOutput(handler, returned, maxOutputBytes)
    return Promise.resolve(returned).then((value) => checkOutput(handler, value, maxOutputBytes), failureOf)
  } catch (error) {
    return failureOf(error)
  }
}

function checkOutput(
  handler: Handler,
  returned: unknown,
  maxOutputBytes: number,
): OwnOutcome | Promise<OwnOutcome> {
  const answer = askSchema(handler.output, returned)
  return answer instanceof Promise
    ? answer.then((output) => outputOutcome(output, maxOutputBytes))
    : outputOutcome(answer, maxOutputBytes)
}

function outputOutcome(output: SchemaAnswer, maxOutputBytes: number): OwnOutcome {
  if ('faults' in output)
    return failure(
      ERROR_CODES.outputNotStorable,
      `the output does not fit its schema: ${faultText('output', output)}`,
      { retryable: false },
    )
  const payload = outputPayload(output.value, maxOutputBytes)
  return payload.kind === 'failed' ? payload : { kind: 'succeeded', output: payload }
}

function invalidInput(message: string): OwnOutcome {
  return failure(ERROR_CODES.invalidInput, message, { retryable: false })
}

function faultText(root: string, { faults }: Extract<SchemaAnswer, { faults: unknown }>): string {
  return faults.map(({ path, message }) => `${root}${path}: ${message}`).join('; ')
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
