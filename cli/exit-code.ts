import {
  DeadlineExceededError,
  InvalidRequestError,
  type PunctualError,
  TaskFailedError,
  TaskNotFoundError,
  UnavailableError,
} from '../client/index.js'

/** How a command ends. */
export const EXIT = {
  ok: 0,
  /** Anything without a code of its own; the line on stderr says what. */
  failed: 1,
  /** What was typed, or what the server will not take. */
  usage: 2,
  notFound: 3,
  /** The task that was waited for did not succeed. */
  taskFailed: 4,
  /** No server there, or none that answers. */
  unreachable: 5,
  /** Ended by SIGINT or SIGTERM while it waited, as shells have it. */
  interrupted: 130,
} as const

/** For the help of each command. */
export const EXIT_CODES_HELP = `
Exit codes: 0 ok, 1 failed, 2 usage or refused by the server, 3 not found, 4 the task failed, 5 server unreachable,
130 interrupted while it waited.`

/** The exit code that fits an error. */
export function exitCodeOf(error: PunctualError): number {
  if (error instanceof TaskFailedError) return EXIT.taskFailed
  if (error instanceof TaskNotFoundError || error.code === 'NOT_FOUND') return EXIT.notFound
  if (error instanceof InvalidRequestError || error.code === 'ALREADY_EXISTS') return EXIT.usage
  if (error instanceof UnavailableError || error instanceof DeadlineExceededError) return EXIT.unreachable
  return EXIT.failed
}
