import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { StoreSettings } from './channel.js'
import { openConnection } from './connection.js'
import type { Operation, ReadOperation } from './operations.js'
import { StoreReader } from './reader.js'
import { openStoreFolder } from './store-folder.js'
import { type FromThread, type NumberedAnswer, plainError, type ToThread } from './thread-messages.js'
import { type Answer, StoreWriter } from './writer.js'

/** What one commit takes at most, in tasks and in bytes: what comes later forms the next one, so that nobody waits for a very long commit. */
const MAX_TASKS = 8_192
const MAX_BYTES = 32 * 1024 * 1024

const port = parentPort as NonNullable<typeof parentPort>
const { settings, role } = workerData as {
  settings: StoreSettings
  role: 'writer' | { readonly readOnly: string }
}
const tell = (message: FromThread): void => port.postMessage(message)

try {
  if (role === 'writer') serveWriter()
  else serveReader(role.readOnly)
} catch (error) {
  tell({ kind: 'failedToOpen', error: plainError(error) })
  port.close()
}

function serveWriter(): void {
  const store = openStoreFolder(settings)
  const writer = new StoreWriter(store.connection, store.room)
  // A store in memory exists in this connection only, so its reads come here too.
  const reader = store.file === '' ? new StoreReader(store.connection) : undefined
  tell({ kind: 'open', file: store.file, commit: writer.commit })
  port.on('message', (first: ToThread) => {
    const messages = together(first)
    run(messages, writer, reader)
    if (messages.some(({ kind }) => kind === 'close')) {
      store.close()
      tell({ kind: 'closed' })
      port.close()
    }
  })
}

/** What has come meanwhile: one commit for all of it. */
function together(first: ToThread): ToThread[] {
  const messages = [first]
  let tasks = 0
  let bytes = 0
  for (let last: ToThread | undefined = first; last; ) {
    const weight = weightOf(last)
    tasks += weight.tasks
    bytes += weight.bytes
    if (tasks >= MAX_TASKS || bytes >= MAX_BYTES) break
    last = receiveMessageOnPort(port)?.message as ToThread | undefined
    if (last) messages.push(last)
  }
  return messages
}

function weightOf(message: ToThread): { tasks: number; bytes: number } {
  if (message.kind !== 'do') return { tasks: 0, bytes: 0 }
  const { operation } = message
  if (operation.kind === 'insert')
    return { tasks: operation.insert.count, bytes: operation.insert.bytes.length }
  if (operation.kind === 'update') {
    const { count, entries, live } = operation.update
    return { tasks: count, bytes: entries.length + live.length }
  }
  return { tasks: operation.kind === 'start' ? operation.starts.count : 1, bytes: 0 }
}

function run(messages: readonly ToThread[], writer: StoreWriter, reader: StoreReader | undefined): void {
  const asked = messages.filter((message) => message.kind === 'do')
  const ids = new Map(asked.map(({ id, operation }) => [operation, id]))
  const writes = asked.map(({ operation }) => operation).filter((operation) => !isRead(operation))
  const idOf = (operation: Operation | undefined): number => (operation && ids.get(operation)) ?? 0
  const promised = new Set<Answer>()
  const outcomes = writer.run(writes, {
    prepared(commit, group, answers) {
      for (const answer of answers) promised.add(answer)
      tell({
        kind: 'prepared',
        commit,
        answers: answers.map((answer, i) => numbered(idOf(group[i]), answer)),
      })
    },
    undone: (commit) => tell({ kind: 'undone', commit }),
  })
  const answers = outcomes
    .map((answer, i) => ({ answer, id: idOf(writes[i]) }))
    .filter(({ answer }) => !promised.has(answer))
    .map(({ answer, id }) => numbered(id, answer))
  for (const { id, operation } of asked)
    if (isRead(operation) && reader)
      answers.push(
        numbered(
          id,
          attempt(() => reader.run(operation)),
        ),
      )
  tell({ kind: 'done', commit: writer.commit, answers })
}

function serveReader(file: string): void {
  const connection = openConnection(file, { readOnly: true, cacheKiB: 16_384 })
  const reader = new StoreReader(connection)
  tell({ kind: 'open', file, commit: 0 })
  port.on('message', (message: ToThread) => {
    if (message.kind === 'close') {
      connection.close()
      tell({ kind: 'closed' })
      port.close()
      return
    }
    const answer = attempt(() => reader.run(message.operation as ReadOperation))
    tell({ kind: 'done', commit: 0, answers: [numbered(message.id, answer)] })
  })
}

const READS: ReadonlySet<Operation['kind']> = new Set<ReadOperation['kind']>([
  'list',
  'readLog',
  'lookUp',
  'positionAt',
])

const isRead = (operation: Operation): operation is ReadOperation => READS.has(operation.kind)

function attempt(fn: () => unknown): Answer {
  try {
    return { ok: true, value: fn() }
  } catch (error) {
    return { ok: false, error: error as Error }
  }
}

const numbered = (id: number, answer: Answer): NumberedAnswer =>
  answer.ok ? { id, value: answer.value } : { id, error: plainError(answer.error) }
