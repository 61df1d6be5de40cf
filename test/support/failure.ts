import { expect } from 'vitest'
import { PunctualError } from '../../client/index.js'

/** The error that a call ends with, which must be one of the client's. */
export async function failure(promise: Promise<unknown>): Promise<PunctualError> {
  const error = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(PunctualError)
  return error as PunctualError
}
