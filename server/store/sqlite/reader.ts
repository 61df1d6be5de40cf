import { BytesOut } from './bytes-out.js'
import type { Connection } from './connection.js'
import { ListTasks } from './list-tasks.js'
import { LogReader } from './log-reader.js'
import type { ReadOperation } from './operations.js'
import { writeRow } from './task-rows.js'

/** What is read beside the writer, on a connection of its own. */
export class StoreReader {
  readonly #list: ListTasks
  readonly #log: LogReader
  readonly #rows = new BytesOut()

  constructor(connection: Connection) {
    this.#list = new ListTasks(connection)
    this.#log = new LogReader(connection)
  }

  run(operation: ReadOperation): unknown {
    switch (operation.kind) {
      case 'list': {
        const { rows, next } = this.#list.run(operation.query)
        this.#rows.clear()
        for (const row of rows) writeRow(this.#rows, row)
        return { rows: this.#rows.take(), next }
      }
      case 'readLog':
        return this.#log.page(operation)
      case 'positionAt':
        return this.#log.positionAt(operation.since)
    }
  }
}
