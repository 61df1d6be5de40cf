import { createRequire } from 'node:module'
import { FIXED_LIMITS } from '../admission/limits.js'
import type { Settings } from '../config/settings.js'
import type { ServerInfo } from '../rpc/server-service.js'

/** What this server can do beyond the first version of the contract. */
const FEATURES = [
  'at_most_once',
  'bulk_changes',
  'concurrency_keys',
  'consumers',
  'pause',
  'preview_recurrence',
  'recurrence',
  'retry',
  'run_now',
  'start_within',
  'wait_for_result',
]

/** The package's own version: it finds itself by its name, from the sources and from what is built. */
export function version(): string {
  const { version: own } = createRequire(import.meta.url)('punctual/package.json') as { version: string }
  return own
}

/** What GetServerInfo says. */
export function serverInfo(settings: Settings): ServerInfo {
  return {
    version: version(),
    features: FEATURES,
    limits: {
      max_input_bytes: settings.maxInputBytes,
      max_output_bytes: settings.maxOutputBytes,
      max_message_bytes: settings.maxMessageBytes,
      max_waiting_tasks: settings.maxWaitingTasks,
      max_store_bytes: settings.maxStoreBytes,
      max_streams: settings.maxStreams,
      max_batch_tasks: FIXED_LIMITS.maxBatchTasks,
      max_id_chars: FIXED_LIMITS.maxIdChars,
      max_labels: FIXED_LIMITS.maxLabels,
      max_label_key_chars: FIXED_LIMITS.maxLabelKeyChars,
      max_label_value_chars: FIXED_LIMITS.maxLabelValueChars,
      max_priority: FIXED_LIMITS.maxPriority,
      max_concurrency_key_bytes: FIXED_LIMITS.maxConcurrencyKeyBytes,
      max_attempts: FIXED_LIMITS.maxAttempts,
      max_json_depth: FIXED_LIMITS.maxJsonDepth,
    },
  }
}
