import type { LogFilter, LogPosition, StoredConsumer, TaskStore } from '../store/task-store.js'
import { SchedulerError } from '../task/errors.js'
import type { Instant } from '../task/instant.js'
import { differenceOf } from './filter-difference.js'
import type { LogStart, ResultLog } from './result-log.js'

const MAX_CONSUMERS = 1_000

/** What a stream says of the consumer that it reads for. */
export interface ConsumerWish {
  readonly name: string
  readonly filter: LogFilter
  /** On first use: retention may remove what it has not read. */
  readonly lossy: boolean
  /** On first use: where to begin. */
  readonly start: LogStart
}

/** A consumer and how it does. */
export interface ConsumerState extends StoredConsumer {
  /** Entries after its position, before filtering. */
  readonly lag: number
  /** A stream is open. */
  readonly connected: boolean
}

/** The right to read for a consumer: one stream at a time has it. */
export interface ConsumerSeat {
  /** Read after this. */
  readonly position: LogPosition
  /** Aborted when the stream must end; the reason is the error to end with. */
  readonly ousted: AbortSignal
  /** The stream has ended. */
  leave(): void
}

interface Consumer {
  kept: StoredConsumer
  seat: AbortController | undefined
}

export interface ConsumersParts {
  readonly store: Pick<
    TaskStore,
    'now' | 'consumers' | 'keepConsumer' | 'moveConsumer' | 'forgetConsumer' | 'stats'
  >
  readonly log: ResultLog
}

/**
 * The durable consumers of the log: each is a name whose position the server keeps. A stream of it starts after what was acknowledged last; whoever reads for the same name
 * later takes over.
 *
 * @example
 * const consumers = await Consumers.open({ store, log })
 * const seat = await consumers.take({ name: 'billing', filter, lossy: false, start: { kind: 'earliest' } })
 */
export class Consumers {
  readonly #store: ConsumersParts['store']
  readonly #log: ResultLog
  readonly #known: Map<string, Consumer>
  /** First uses that are not on disk yet. */
  readonly #making = new Map<string, Promise<Consumer>>()

  private constructor({ store, log }: ConsumersParts, kept: readonly StoredConsumer[]) {
    this.#store = store
    this.#log = log
    this.#known = new Map(kept.map((consumer) => [consumer.name, { kept: consumer, seat: undefined }]))
  }

  /** Begins with those that the store knows. */
  static async open(parts: ConsumersParts): Promise<Consumers> {
    return new Consumers(parts, await parts.store.consumers())
  }

  /** All of them, by name. */
  list(): ConsumerState[] {
    const states: ConsumerState[] = []
    for (const { kept, seat } of this.#known.values()) {
      const lag = Math.max(0, this.#log.latest - kept.position)
      states.push({ ...kept, lag, connected: seat !== undefined })
    }
    return states.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  /**
   * Begins to read for a consumer; a name that is not known becomes one, on disk once this resolves. A stream that reads for it already is ousted.
   *
   * @throws SchedulerError CONSUMER_MISMATCH for another filter than at its first use; CURSOR_EXPIRED when what it has not read is no longer kept; TOO_MANY_CONSUMERS; for a
   * start at first use, whatever {@link ResultLog.positionOf} throws.
   */
  async take(wish: ConsumerWish): Promise<ConsumerSeat> {
    const consumer = await this.#ensure(wish)
    const different = differenceOf(consumer.kept.filter, wish.filter)
    if (different.length > 0) throw mismatch(wish.name, different)
    const { earliest } = await this.#store.stats()
    // from here on without a pause: an acknowledgement meanwhile has moved it
    if (this.#known.get(wish.name) !== consumer) throw consumerNotFound(wish.name)
    const { position } = consumer.kept
    if (position < earliest && !consumer.kept.lossy) throw this.#expired(wish.name, earliest)
    consumer.seat?.abort(takenOver(wish.name))
    const seat = new AbortController()
    consumer.seat = seat
    this.#touch(consumer)
    return {
      position: Math.max(position, earliest),
      ousted: seat.signal,
      leave: () => {
        if (consumer.seat !== seat) return
        consumer.seat = undefined
        this.#touch(consumer)
      },
    }
  }

  /**
   * Everything up to the cursor is done with. Forward only: an older cursor changes nothing. On disk once this resolves.
   *
   * @returns the position that holds now.
   * @throws SchedulerError CONSUMER_NOT_FOUND, CURSOR_UNKNOWN, LOG_REPLACED.
   */
  async acknowledge(name: string, cursor: string): Promise<LogPosition> {
    const consumer = this.#find(name)
    const position = await this.#log.reached(cursor)
    const activeTime = this.#store.now()
    if (position > consumer.kept.position) await this.#store.moveConsumer(name, position, activeTime)
    this.#moved(consumer, position, activeTime)
    return consumer.kept.position
  }

  /** Forgets a consumer; its stream is ousted. @throws SchedulerError CONSUMER_NOT_FOUND. */
  async forget(name: string): Promise<void> {
    const consumer = this.#find(name)
    await this.#store.forgetConsumer(name)
    if (this.#known.get(name) === consumer) this.#known.delete(name)
    consumer.seat?.abort(consumerNotFound(name))
  }

  async #ensure(wish: ConsumerWish): Promise<Consumer> {
    const known = this.#known.get(wish.name) ?? this.#making.get(wish.name)
    if (known !== undefined) return known
    if (this.#known.size + this.#making.size >= MAX_CONSUMERS) throw tooMany()
    const making = this.#make(wish)
    this.#making.set(wish.name, making)
    try {
      return await making
    } finally {
      this.#making.delete(wish.name)
    }
  }

  async #make({ name, filter, lossy, start }: ConsumerWish): Promise<Consumer> {
    const position = await this.#log.positionOf(start)
    const now = this.#store.now()
    const kept = { name, position, filter, lossy, createTime: now, activeTime: now }
    await this.#store.keepConsumer(kept)
    const consumer = { kept, seat: undefined }
    this.#known.set(name, consumer)
    // what was removed before retention knew of it was not there for it
    const { earliest } = await this.#store.stats()
    if (earliest > position && start.kind !== 'after') this.#moved(consumer, earliest, now)
    return consumer
  }

  #find(name: string): Consumer {
    const consumer = this.#known.get(name)
    if (consumer === undefined) throw consumerNotFound(name)
    return consumer
  }

  #moved(consumer: Consumer, position: LogPosition, activeTime: Instant): void {
    const { kept } = consumer
    consumer.kept = {
      ...kept,
      position: Math.max(kept.position, position),
      activeTime: Math.max(kept.activeTime, activeTime),
    }
  }

  /** Notes that it is in use. Nobody waits: should this be lost, the next acknowledgement brings it. */
  #touch(consumer: Consumer): void {
    const { name, position } = consumer.kept
    const now = this.#store.now()
    this.#moved(consumer, position, now)
    this.#store.moveConsumer(name, position, now).catch(() => {})
  }

  #expired(name: string, earliest: LogPosition): SchedulerError {
    return new SchedulerError(
      'CURSOR_EXPIRED',
      `what the consumer '${name}' has not read is no longer kept: acknowledge the earliest cursor (in the details) to go on there, and count the gap as lost`,
      { consumer: name, earliest_cursor: this.#log.cursor(earliest) },
    )
  }
}

function consumerNotFound(name: string): SchedulerError {
  return new SchedulerError(
    'CONSUMER_NOT_FOUND',
    `no consumer '${name}' is known (any more): a stream with this name makes it`,
    { consumer: name },
  )
}

function takenOver(name: string): SchedulerError {
  return new SchedulerError(
    'CONSUMER_TAKEN_OVER',
    `another stream reads for the consumer '${name}' now: one at a time does`,
    { consumer: name },
  )
}

function mismatch(name: string, different: readonly string[]): SchedulerError {
  const fields = different.join(', ')
  return new SchedulerError(
    'CONSUMER_MISMATCH',
    `the consumer '${name}' was made with another filter; it differs in: ${fields}. Use the same, another name, or delete the consumer first`,
    { consumer: name, differs_in: fields },
  )
}

function tooMany(): SchedulerError {
  return new SchedulerError(
    'TOO_MANY_CONSUMERS',
    `at most ${MAX_CONSUMERS} consumers may be kept: delete those that nobody reads for any more`,
    { limit: String(MAX_CONSUMERS) },
  )
}
