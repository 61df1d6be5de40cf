import { idleConsumers } from '../results/consumer-patience.js'
import type { ConsumerState } from '../results/consumers.js'
import type { Instant } from '../task/instant.js'
import type { IdleConsumer } from '../watchdog/watchdog.js'

/** Consumers that nobody reads for, by name, as findings. */
export function consumerFindings(
  consumers: readonly ConsumerState[],
  now: Instant,
): ReadonlyMap<string, IdleConsumer> {
  const found = idleConsumers(consumers, now).map(({ name, lag, activeTime, releaseTime }) => {
    const until = new Date(releaseTime).toISOString()
    const wait =
      now < releaseTime
        ? `retention keeps what it has not acknowledged until ${until}`
        : 'retention does not keep entries for it any more'
    const message = `nobody reads for the consumer '${name}' (${lag} entries behind): ${wait}. Read for it, or delete it`
    return [name, { message, since: activeTime }] as const
  })
  return new Map(found)
}
