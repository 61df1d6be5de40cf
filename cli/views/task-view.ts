import type { TaskInfo } from '../../client/index.js'
import { printable } from '../printable.js'
import { showTime } from '../relative-time.js'
import type { Colours, Terminal } from '../terminal.js'
import { colouredWord } from './coloured-word.js'

/** A task with everything that is known of it, a line for each. */
export function taskView(task: TaskInfo, terminal: Terminal): string {
  const now = terminal.now()
  const { colours } = terminal
  const time = (date: Date | undefined): string | undefined => date && showTime(date, now)
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['id', printable(task.id)],
    ['handler', printable(task.handler)],
    ['state', stateText(task, colours)],
    ['run', `${task.run}${task.attempts > 0 ? `, ${attemptsText(task)}` : ''}`],
    ['due', time(task.dueTime)],
    ['next', task.nextDueTime?.getTime() === task.dueTime?.getTime() ? undefined : time(task.nextDueTime)],
    ['started', time(task.startTime)],
    ['created', time(task.createTime)],
    ['recurs', task.recurrence && printable(JSON.stringify(task.recurrence))],
    ['retry', task.retry && JSON.stringify(task.retry)],
    ['priority', task.priority === 0 ? undefined : String(task.priority)],
    ['key', task.concurrencyKey === '' ? undefined : printable(task.concurrencyKey)],
    ['labels', labelsText(task.labels)],
    ['input', inputText(task.input)],
    ['error', task.lastError && printable(`${task.lastError.code}: ${task.lastError.message}`)],
  ]
  return facts
    .flatMap(([name, text]) => (text === undefined ? [] : [`${colours.bold(name.padEnd(9))} ${text}`]))
    .join('\n')
}

/** Where a task stands, and why it does not go on. */
export function stateText(task: TaskInfo, colours: Colours): string {
  const notes = [
    task.paused ? 'paused' : undefined,
    task.cancelRequested ? 'told to stop' : undefined,
    task.replacementWaits ? 'a new spec waits' : undefined,
    task.blockedReason && `blocked: ${task.blockedReason}`,
  ].filter((note) => note !== undefined)
  return `${colouredWord(colours, task.state)}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`
}

function attemptsText(task: TaskInfo): string {
  const interrupted = task.interruptedAttempts > 0 ? ` (${task.interruptedAttempts} interrupted)` : ''
  return `${task.attempts} ${task.attempts === 1 ? 'attempt' : 'attempts'}${interrupted}`
}

function labelsText(labels: Readonly<Record<string, string>>): string | undefined {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`)
  return pairs.length === 0 ? undefined : printable(pairs.join(' '))
}

function inputText(input: unknown): string | undefined {
  if (input === undefined) return undefined
  return input instanceof Uint8Array ? `${input.byteLength} bytes` : printable(JSON.stringify(input))
}
