import { type IdGenerator, RandomIdGenerator } from '@opentelemetry/sdk-trace-base'

/**
 * Random ids, unless ids were told. An attempt's id goes to its thread before its span can start, and a handler's span got its ids in the thread;
 * both become spans of this process's tracer, under the ids that they have.
 */
export class SpanIds implements IdGenerator {
  readonly #random = new RandomIdGenerator()
  #told: { readonly traceId: string; readonly spanId: string } | undefined

  /** Whatever `start` starts gets these ids. At most one span, and nothing that awaits. */
  with<T>(ids: { readonly traceId: string; readonly spanId: string }, start: () => T): T {
    this.#told = ids
    try {
      return start()
    } finally {
      this.#told = undefined
    }
  }

  generateTraceId = (): string => this.#told?.traceId ?? this.#random.generateTraceId()
  generateSpanId = (): string => this.#told?.spanId ?? this.#random.generateSpanId()
}
