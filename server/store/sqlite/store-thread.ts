import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { type StoreSettings } from './channel.js'
import { openConnection } from './connection.js'
import type { Operation, ReadOperation, WriteOperation } from './operations.js'
import { StoreReader } from './reader.js'
import { openStoreFolder } from './store-folder.js'
import { type FromThread, plainError, type ToThread } from './thread-messages.js'
import { StoreWriter } from './writer.js'

/** Operations that one commit takes at most: what comes later forms the next one, so that nobody waits for a very long commit. */
const MAX_GROUP = 2_048

const port = parentPort as NonNullable<typeof parentPort>
const { settings, role } = workerData as {
  settings: StoreSettings
  role: 'writer' | { readonly readOnly: string }
}
const answer = (message: FromThread): void => port.postMessage(message)

try {
  if (role === 'writer') serveWriter()
  else serveReader(role.readOnly)
} catch (error) {
  answer({ kind: 'failedToOpen', error: plainError(error) })
  port.close()
}

function serveWriter(): void {
  const store = openStoreFolder(settings.folder, settings)
  const writer = new StoreWriter(store.connection)
  // A store in memory exists in this connection only, so its reads come here too.
  const reader = store.file === '' ? new StoreReader(store.connection) : undefined
  answer({ kind: 'open', file: store.file })
  port.on('message', (first: ToThread) => {
    const messages = [first]
    while (messages.length < MAX_GROUP) {
      const next = receiveMessageOnPort(port)
      if (!next) break
      messages.push(next.message)
    }
    run(messages, writer, reader)
    if (messages.some(({ kind }) => kind === 'close')) {
      store.close()
      answer({ kind: 'closed' })
      port.close()
    }
  })
}

function run(messages: readonly ToThread[], writer: StoreWriter, reader: StoreReader | undefined): void {
  const asked = messages.filter((message) => message.kind === 'do')
  const writes = asked.filter(({ operation }) => !isRead(operation))
  const answers = writer
    .run(writes.map(({ operation }) => operation as WriteOperation))
    .map((outcome, i) => Object.assign(plain(outcome), { id: (writes[i] as { id: number }).id }))
  for (const { id, operation } of asked)
    if (isRead(operation) && reader) answers.push({ id, ...plain(attempt(() => reader.run(operation))) })
  if (answers.length > 0) answer({ kind: 'answers', answers })
}

function serveReader(file: string): void {
  const connection = openConnection(file, { readOnly: true, cacheKiB: 16_384 })
  const reader = new StoreReader(connection)
  answer({ kind: 'open', file })
  port.on('message', (message: ToThread) => {
    if (message.kind === 'close') {
      connection.close()
      answer({ kind: 'closed' })
      port.close()
      return
    }
    const outcome = plain(attempt(() => reader.run(message.operation as ReadOperation)))
    answer({ kind: 'answers', answers: [{ id: message.id, ...outcome }] })
  })
}

const isRead = (operation: Operation): operation is ReadOperation =>
  operation.kind === 'list' || operation.kind === 'readLog' || operation.kind === 'positionAt'

function attempt(fn: () => unknown): { ok: true; value: unknown } | { ok: false; error: Error } {
  try {
    return { ok: true, value: fn() }
  } catch (error) {
    return { ok: false, error: error as Error }
  }
}

function plain(
  outcome: ReturnType<typeof attempt>,
): { value: unknown } | { error: ReturnType<typeof plainError> } {
  return outcome.ok ? { value: outcome.value } : { error: plainError(outcome.error) }
}
