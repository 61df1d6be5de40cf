import type { AttemptEnd, ExecutorEvents } from './executor.js'

type Began = Parameters<ExecutorEvents['began']>[0][number]

/** What is to be told of attempts: gathered first, since who is told may start the next ones at once. */
export class News {
  readonly began: Began[] = []
  readonly ended: AttemptEnd[] = []
  readonly returned: number[] = []
  readonly released: number[] = []

  tell(events: ExecutorEvents): void {
    if (this.began.length > 0) events.began(this.began)
    if (this.ended.length > 0) events.ended(this.ended)
    if (this.returned.length > 0) events.returned(this.returned)
    if (this.released.length > 0) events.released(this.released)
  }
}
