import { bytesText } from './kinds.js'
import type { Settings } from './settings.js'

/** What the wire adds to an input: its message's other fields. */
const MESSAGE_OVERHEAD = 64 * 1024

/** What is wrong with settings that are good each by itself. */
export function checkTogether(settings: Settings): string[] {
  const { tlsCert, tlsKey, tlsCa, insecure, listen, maxInputBytes, maxMessageBytes } = settings
  const problems: string[] = []
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    problems.push('--tls-cert and --tls-key belong together: give both, or neither')
  }
  if (tlsCa !== undefined && tlsCert === undefined) {
    problems.push('--tls-ca asks callers for certificates, which needs --tls-cert and --tls-key')
  }
  if (insecure && tlsCert !== undefined)
    problems.push('--insecure and --tls-cert contradict each other: leave one out')
  if (tlsCert === undefined && !insecure && !isLoopback(listen.host)) {
    problems.push(
      `--listen ${listen.host}: others can reach this address and would run your handlers unasked: give --tls-cert and --tls-key, listen on 127.0.0.1, or say --insecure`,
    )
  }
  if (maxInputBytes + MESSAGE_OVERHEAD > maxMessageBytes) {
    problems.push(
      `--max-input-bytes ${bytesText(maxInputBytes)} does not fit into a message of --max-message-bytes ${bytesText(maxMessageBytes)}: raise that, or lower it`,
    )
  }
  return problems
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}
