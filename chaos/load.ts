import { setTimeout as sleep } from 'node:timers/promises'
import type { PunctualError, SchedulerClient } from '../client/index.js'
import type { Book, Entry } from './book.js'
import type { Dice } from './dice.js'
import { anyPlan, KILLER, type TaskPlan } from './plans.js'

/** A call that meets a dead server is given up after this: what came of it is unknown then. */
const CALL = { deadlineMs: 8_000 }
const RECENT = 60
const MAX_OPEN_CALLS = 200
/** Two minutes: no fault lasts as long. */
const MAX_RESUMES = 600
const RESUME_EVERY_MS = 200
/** With more tasks open than this, nothing is scheduled: what is wanted is chaos, not a queue. */
const MAX_BACKLOG = 150

type Action = () => Promise<unknown>

/** Calls of every kind, many at once, whatever happens to the server; the book knows what was answered. */
export class Load {
  readonly #client: SchedulerClient
  readonly #book: Book
  readonly #dice: Dice
  /** How many tasks have had their last result. */
  readonly #ended: () => number
  readonly #open = new Set<Promise<unknown>>()
  #recent: Entry[] = []
  #isOver = false
  #nextId = 1

  constructor(client: SchedulerClient, book: Book, dice: Dice, ended: () => number) {
    this.#client = client
    this.#book = book
    this.#dice = dice
    this.#ended = ended
  }

  /** Goes on until `stop`. @param pauseMs - Between two calls, on average. */
  async run(pauseMs: number): Promise<void> {
    while (!this.#isOver) {
      if (this.#open.size < MAX_OPEN_CALLS) this.#begin(this.#action())
      await sleep(this.#dice.next() * 2 * pauseMs)
    }
  }

  /** Begins nothing more; resolves when every call is answered or given up. */
  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#open)
  }

  /** Schedules one that takes the server down. */
  killer(): void {
    this.#begin(() => this.#schedule(KILLER))
  }

  /** Ends every series, so that there is an end. */
  async cancelSeries(): Promise<void> {
    const live = [...this.#book.entries.values()].filter(({ plan }) => plan.options.recurrence)
    for (const entry of live) await this.#cancel(entry)
  }

  #action(): Action {
    const dice = this.#dice
    const one = this.#recent.length > 0 ? dice.pick(this.#recent) : undefined
    const isFull = this.#book.acknowledged - this.#ended() > MAX_BACKLOG
    const actions: readonly { weight: number; item: Action }[] = [
      ...(isFull
        ? [{ weight: 40, item: () => Promise.resolve() }]
        : [
            { weight: 70, item: () => this.#schedule(anyPlan(dice)) },
            { weight: 8, item: () => this.#scheduleMany() },
          ]),
      ...(one
        ? [
            { weight: 12, item: () => this.#cancel(one) },
            { weight: 3, item: () => this.#pauseAWhile(one) },
            { weight: 3, item: () => this.#runNow(one) },
            { weight: 4, item: () => this.#replace(one) },
            { weight: 1, item: () => this.#retry(one) },
            { weight: 3, item: () => this.#scheduleAgain(one) },
            { weight: 5, item: () => this.#ask('get', () => this.#client.get(one.id, CALL)) },
            { weight: 2, item: () => this.#ask('list', () => this.#list()) },
            { weight: 2, item: () => this.#ask('stats', () => this.#client.stats(CALL)) },
          ]
        : []),
    ]
    return dice.draw(actions)
  }

  #begin(action: Action): void {
    this.#book.calls++
    const open = action().finally(() => this.#open.delete(open))
    this.#open.add(open)
  }

  #enter(plan: TaskPlan): Entry {
    const entry = this.#book.open(`${plan.kind.replaceAll(' ', '-')}/${this.#nextId++}`, plan)
    this.#recent = [...this.#recent.slice(-RECENT), entry]
    return entry
  }

  async #schedule(plan: TaskPlan): Promise<void> {
    await this.#send(this.#enter(plan))
  }

  async #send({ id, plan }: Entry): Promise<void> {
    await this.#ask('schedule', async () => {
      await this.#client.schedule(plan.handler, plan.input, { ...plan.options, ...CALL, id })
      this.#book.acknowledge(id)
    })
  }

  async #scheduleMany(): Promise<void> {
    const entries = Array.from({ length: this.#dice.int(2, 30) }, () => this.#enter(anyPlan(this.#dice)))
    const requests = entries.map(({ id, plan }) => ({
      ...plan.options,
      id,
      handler: plan.handler,
      input: plan.input,
    }))
    const answers = await this.#client.scheduleMany(requests, CALL)
    answers.forEach((answer, i) => {
      const entry = entries[i]
      if (answer instanceof Error) this.#book.failed('schedule', answer)
      else if (entry) this.#book.acknowledge(entry.id)
    })
  }

  /** The same id and the same spec: must find the same task. A delay counts as it was said. */
  async #scheduleAgain(entry: Entry): Promise<void> {
    if (entry.isAcknowledged && !entry.mayHaveReopened) await this.#send(entry)
  }

  async #cancel(entry: Entry): Promise<void> {
    entry.mayBeCancelled = true
    await this.#ask('cancel', async () => {
      const { state } = await this.#client.cancel(entry.id, { ...CALL, graceMs: this.#dice.int(0, 200) })
      entry.cancelled = { at: Date.now(), state }
    })
  }

  async #pauseAWhile(entry: Entry): Promise<void> {
    entry.isMeddledWith = true
    await this.#ask('pause', () => this.#client.pause(entry.id, CALL))
    await sleep(this.#dice.int(0, 500))
    // it must not stay so, however long the server is away
    for (let tries = 0; tries < MAX_RESUMES; tries++) {
      const error = await this.#ask('resume', () => this.#client.resume(entry.id, CALL))
      if (error === undefined || isAnswer(error)) return
      await sleep(RESUME_EVERY_MS)
    }
  }

  async #runNow(entry: Entry): Promise<void> {
    entry.isMeddledWith = true
    await this.#ask('runNow', () => this.#client.runNow(entry.id, CALL))
  }

  /** The same work, due at another time. */
  async #replace(entry: Entry): Promise<void> {
    const { plan } = entry
    if (entry.mayBeCancelled || plan.options.atMostOnce || plan === KILLER) return
    entry.isMeddledWith = true
    entry.mayHaveReopened = true
    const { dueTime: _, ...others } = plan.options
    const options = { ...others, delayMs: this.#dice.int(0, 1_500), onConflict: 'replace' as const }
    await this.#ask('replace', () =>
      this.#client.schedule(plan.handler, plan.input, { ...options, ...CALL, id: entry.id }),
    )
  }

  async #retry(entry: Entry): Promise<void> {
    if (entry.mayBeCancelled || entry.plan === KILLER) return
    entry.isMeddledWith = true
    entry.mayHaveReopened = true
    await this.#ask('retry', () => this.#client.retryMany({ ids: [entry.id] }, CALL))
  }

  async #list(): Promise<void> {
    let count = 0
    for await (const _ of this.#client.list({ ...CALL, pageSize: 50 })) if (++count >= 150) return
  }

  async #ask(call: string, ask: () => Promise<unknown>): Promise<unknown> {
    try {
      await ask()
      return undefined
    } catch (error) {
      this.#book.failed(call, error)
      return error
    }
  }
}

/** The server has answered, though not with success. */
function isAnswer(error: unknown): boolean {
  return !['UnavailableError', 'DeadlineExceededError', 'ServerFullError'].includes(
    (error as PunctualError).name,
  )
}
