import type * as wire from '../../proto/generated/punctual/v1/scheduler_service.js'
import type { ConsumerState, Consumers } from '../results/consumers.js'
import type { ResultLog } from '../results/result-log.js'
import { InvalidRequestError, type Violation } from '../task/errors.js'
import { checkConsumer, fromLogFilter } from './translate-filter.js'
import { fromInstant } from './translate-time.js'

/** The calls about durable consumers. */
export class ConsumerService {
  readonly #consumers: Consumers
  readonly #log: ResultLog

  constructor(consumers: Consumers, log: ResultLog) {
    this.#consumers = consumers
    this.#log = log
  }

  async ackResults({ consumer, cursor }: wire.AckResultsRequest): Promise<wire.AckResultsResponse> {
    check(consumer)
    return { cursor: this.#log.cursor(await this.#consumers.acknowledge(consumer, cursor)) }
  }

  async deleteConsumer({ consumer }: wire.DeleteConsumerRequest): Promise<wire.DeleteConsumerResponse> {
    check(consumer)
    await this.#consumers.forget(consumer)
    return {}
  }

  listConsumers(): wire.ListConsumersResponse {
    return { consumers: this.list() }
  }

  /** As GetStats shows them too. */
  list(): wire.Consumer[] {
    return this.#consumers.list().map((consumer) => this.#wire(consumer))
  }

  #wire(consumer: ConsumerState): wire.Consumer {
    const { name, position, lag, filter, lossy, connected, createTime, activeTime } = consumer
    return {
      name,
      cursor: this.#log.cursor(position),
      lag: BigInt(lag),
      filter: fromLogFilter(filter),
      lossy,
      connected,
      createTime: fromInstant(createTime),
      activeTime: fromInstant(activeTime),
      includeAttempts: filter.includeAttempts,
    }
  }
}

function check(name: string): void {
  const found: Violation[] = []
  checkConsumer(name, 'consumer', found)
  if (found.length > 0) throw new InvalidRequestError(found, 'INVALID_REQUEST')
}
