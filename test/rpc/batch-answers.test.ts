import { describe, expect, it } from 'vitest'
import { ScheduleBatchResponse } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { type BatchAnswers, encodeBatchAnswers } from '../../server/rpc/batch-answers.js'
import { TaskExistsError } from '../../server/task/errors.js'
import { aCall } from '../admission/specs.js'
import { hurried, unhurried } from '../clock/some-slices.js'
import { named } from '../store/stored-tasks.js'

function answersOf(prefix: string, count: number): BatchAnswers {
  const ids = Array.from({ length: count }, (_, i) => `${prefix}${i}`)
  return {
    calls: ids.map((id) => aCall({ id })),
    answers: ids.map((id, i) =>
      i % 7 === 0
        ? new TaskExistsError(id, 'priority')
        : { task: { ...named(id), arrival: i }, created: true, logPosition: 5 },
    ),
    latest: 5,
    cursorOf: String,
  }
}

describe('the answers of a batch', () => {
  it('are the same bytes in slices, beside others that are written in the same turns', async () => {
    const batches = [answersOf('a', 1_000), answersOf('b', 700), answersOf('c', 40)]
    const inSlices = await Promise.all(batches.map((batch) => encodeBatchAnswers(batch, hurried())))
    for (const [i, batch] of batches.entries()) {
      const whole = await encodeBatchAnswers(batch, unhurried())
      expect(Buffer.compare(whole, inSlices[i] as Uint8Array)).toBe(0)
      expect(ScheduleBatchResponse.decode(whole).answers.map(({ id }) => id)).toEqual(
        batch.calls.map(({ spec }) => spec.id),
      )
    }
  })

  it('that cannot be written leave nothing behind for the next', async () => {
    const broken: BatchAnswers = {
      ...answersOf('a', 500),
      cursorOf: () => {
        throw new Error('no cursor')
      },
    }
    await expect(encodeBatchAnswers(broken, hurried())).rejects.toThrow('no cursor')
    const good = answersOf('b', 3)
    const { answers } = ScheduleBatchResponse.decode(await encodeBatchAnswers(good, unhurried()))
    expect(answers.map(({ id }) => id)).toEqual(['b0', 'b1', 'b2'])
  })
})
