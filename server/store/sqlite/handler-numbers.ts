import type { Connection } from './connection.js'

/** Handler names as small numbers, so that a row and an index hold an integer. */
export class HandlerNumbers {
  readonly #byName = new Map<string, number>()
  readonly #byNumber = new Map<number, string>()
  readonly #insert
  readonly #find
  readonly #all

  constructor(connection: Connection) {
    this.#insert = connection.prepare('INSERT INTO handlers (name) VALUES (?) ON CONFLICT DO NOTHING')
    this.#find = connection.prepare('SELECT number FROM handlers WHERE name = ?')
    this.#all = connection.prepare('SELECT number, name FROM handlers')
    this.reload()
  }

  /** The name's number; a new name gets one in the transaction under way. */
  numberOf(name: string): number {
    const known = this.#byName.get(name)
    if (known !== undefined) return known
    this.#insert.run(name)
    const number = (this.#find.get(name) as { number: number }).number
    this.#remember(number, name)
    return number
  }

  /** The name's number, if any task ever had it. */
  find(name: string): number | undefined {
    return this.#byName.get(name)
  }

  all(): number[] {
    return [...this.#byNumber.keys()]
  }

  nameOf(number: number): string {
    let name = this.#byNumber.get(number)
    if (name === undefined) {
      // another connection may have stored it since
      this.reload()
      name = this.#byNumber.get(number)
    }
    if (name === undefined) throw new Error(`the store names an unknown handler: ${number}`)
    return name
  }

  /** Reads what is stored: others may have written, or a transaction was rolled back. */
  reload(): void {
    this.#byName.clear()
    this.#byNumber.clear()
    for (const row of this.#all.all() as { number: number; name: string }[])
      this.#remember(row.number, row.name)
  }

  #remember(number: number, name: string): void {
    this.#byName.set(name, number)
    this.#byNumber.set(number, name)
  }
}
