import type { InsertAnswer, LogEntry, LogPage, Recovery, TaskStore } from '../../server/store/task-store.js'
import type { NewTask, Task } from '../../server/task/task.js'
import { EVERYTHING, START } from './stored-tasks.js'

/** Opens a store on what is kept. @param now - The clock that it is told. */
export type OpenStore = (now: () => number) => TaskStore

/** How the stores of one kind are made. */
export interface StoreKind {
  readonly name: string
  /** How a process may end so that the next one finds what it left. */
  readonly survives: readonly ('restart' | 'kill')[]
  /** Something new to keep data in. */
  make(): Promise<{
    readonly open: OpenStore
    /** What a process leaves behind that dies at this moment, to be opened by the next one. */
    readonly afterKill?: () => Promise<OpenStore>
    remove(): Promise<void>
  }>
}

/** One store under test, its clock, and its deaths. */
export class StoreWorld {
  now = START
  store: TaskStore
  recovery!: Recovery
  /** What listeners of the current store have heard. */
  readonly heard: LogEntry[] = []
  #open: OpenStore
  readonly #made: Awaited<ReturnType<StoreKind['make']>>

  private constructor(made: Awaited<ReturnType<StoreKind['make']>>) {
    this.#made = made
    this.#open = made.open
    this.store = this.#open(() => this.now)
  }

  static async make(kind: StoreKind): Promise<StoreWorld> {
    const world = new StoreWorld(await kind.make())
    await world.#begin()
    return world
  }

  /** Closes and opens again. */
  async restart(): Promise<Recovery> {
    await this.store.close()
    this.store = this.#open(() => this.now)
    return this.#begin()
  }

  /** The process dies, without any close, and another one opens what it left. */
  async kill(): Promise<Recovery> {
    if (!this.#made.afterKill) throw new Error('this kind of store leaves nothing behind')
    const open = await this.#made.afterKill()
    await this.store.close()
    this.#open = open
    this.store = open(() => this.now)
    return this.#begin()
  }

  async end(): Promise<void> {
    await this.store.close()
    await this.#made.remove()
  }

  /** Inserts tasks that a scheduler holds (`near`) or not. @returns them as they were created. */
  async add(tasks: readonly NewTask[], near = true): Promise<Task[]> {
    const answers = await this.store.insert(tasks.map((task) => ({ task, near })))
    return answers.map(created)
  }

  async addOne(task: NewTask, near = true): Promise<Task> {
    return only(await this.add([task], near))
  }

  async get(id: string): Promise<Task | undefined> {
    return (await this.store.get([id]))[0]
  }

  /** All of the log, read in pages of `maxEntries`. */
  async log(filter = EVERYTHING, maxEntries = 1_000): Promise<LogEntry[]> {
    const entries: LogEntry[] = []
    let after = (await this.store.stats()).earliest
    for (;;) {
      const page: LogPage = await this.store.readLog({ after, filter, maxEntries, maxBytes: 1_000_000 })
      entries.push(...page.entries)
      if (page.through === after) return entries
      after = page.through
    }
  }

  async #begin(): Promise<Recovery> {
    this.heard.length = 0
    this.store.onLog((entries) => this.heard.push(...entries))
    this.recovery = await this.store.open()
    return this.recovery
  }
}

export function created(answer: InsertAnswer): Task {
  if (answer.kind !== 'created') throw new Error(`the task ${answer.task.spec.id} exists`)
  return answer.task
}

/** The only one of a list. */
export function only<T>(list: readonly T[]): T {
  if (list.length !== 1) throw new Error(`expected one, got ${list.length}`)
  return list[0] as T
}

export const idsOf = (tasks: readonly Task[]): string[] => tasks.map(({ spec }) => spec.id)

/** Entries without the difference between a Buffer and its bytes. */
export const comparable = (entries: readonly LogEntry[]) =>
  entries.map((entry) => ({ ...entry, bytes: Buffer.from(entry.bytes).toString() }))
