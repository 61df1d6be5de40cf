/** What a reader keeps of a result. */
export interface Received {
  readonly sequence: number
  readonly taskId: string
}

/** What one reader has got, and where it stands. */
export class Reading {
  readonly received: Received[] = []
  /** Where it began: everything after this is for it. */
  first: string | undefined
  /** Everything up to here has been kept. */
  cursor: string | undefined
  /** How often it had to open a stream. */
  streams = 0

  keep(results: readonly Received[], cursor: string): void {
    for (const { sequence, taskId } of results) this.received.push({ sequence, taskId })
    this.cursor = cursor
  }
}

/** The position in a cursor: callers must not know, a test of the server may. */
export function positionOf(cursor: string): number {
  return Number(Buffer.from(cursor, 'base64url').toString().split(':')[1])
}
