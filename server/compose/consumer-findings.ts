import { idleConsumers } from '../results/consumer-patience.js'
import type { ConsumerState } from '../results/consumers.js'
import type { Finding } from '../stats/overview.js'
import type { Instant } from '../task/instant.js'

/** Consumers that nobody reads for, as findings for GetStats. */
export function consumerFindings(consumers: readonly ConsumerState[], now: Instant): Finding[] {
  return idleConsumers(consumers, now).map(({ name, lag, activeTime, releaseTime }) => {
    const until = new Date(releaseTime).toISOString()
    const wait =
      now < releaseTime
        ? `retention keeps what it has not acknowledged until ${until}`
        : 'retention does not keep entries for it any more'
    const message = `nobody reads for the consumer '${name}' (${lag} entries behind): ${wait}. Read for it, or delete it`
    return { kind: 'CONSUMER_IDLE', message, since: activeTime }
  })
}
