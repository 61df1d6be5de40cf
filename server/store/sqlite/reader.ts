import { BytesOut } from './bytes-out.js'
import type { Connection } from './connection.js'
import { HandlerNumbers } from './handler-numbers.js'
import { ListTasks } from './list-tasks.js'
import { writePageEntry } from './log-page.js'
import { LogReader } from './log-reader.js'
import { Lookup } from './lookup.js'
import type { LookedUp, ReadOperation } from './operations.js'
import { writeRow } from './task-rows.js'

/** What is read beside the writer, on a connection of its own. */
export class StoreReader {
  readonly #list: ListTasks
  readonly #log: LogReader
  readonly #connection: Connection
  readonly #lookup: Lookup
  readonly #rows = new BytesOut()
  readonly #page = new BytesOut()

  constructor(connection: Connection) {
    this.#connection = connection
    this.#lookup = new Lookup(connection, new HandlerNumbers(connection))
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
      case 'lookUp':
        return this.#atOneMoment(() => this.#lookUp(operation.id))
      case 'positionAt':
        return this.#log.positionAt(operation.since)
    }
  }

  #lookUp(id: string): LookedUp {
    // the writer may have written it anew since
    this.#lookup.forget()
    this.#rows.clear()
    this.#page.clear()
    const [row] = this.#lookup.byIds([id])
    if (row) writeRow(this.#rows, row)
    const result = row && this.#lookup.result(id, undefined)
    if (result) writePageEntry(this.#page, result, result.entry, 0)
    return { rows: this.#rows.take(), page: this.#page.take() }
  }

  /** Between two statements a task may end and move from one table to another: in one transaction it is found in one of them. */
  #atOneMoment<T>(read: () => T): T {
    this.#connection.exec('BEGIN')
    try {
      return read()
    } finally {
      this.#connection.exec('COMMIT')
    }
  }
}
