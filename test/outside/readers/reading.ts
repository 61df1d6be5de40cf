/** What a reader keeps of a result. */
export interface Received {
  readonly sequence: number
  readonly taskId: string
}

/** What one reader has got, and where it stands. */
export class Reading {
  readonly received: Received[] = []
  /** Positions that retention took away before it had read them: after the first, up to the second. */
  readonly lost: [number, number][] = []
  /** Where it began: everything after this is for it. */
  first: string | undefined
  /** Everything up to here has been kept. */
  cursor: string | undefined
  /** How often it had to open a stream. */
  streams = 0

  /** A stream is open and stands here. */
  stand(cursor: string): void {
    this.first ??= cursor
    this.cursor ??= cursor
  }

  keep(results: readonly Received[], cursor: string): void {
    for (const { sequence, taskId } of results) this.received.push({ sequence, taskId })
    this.cursor = cursor
  }

  /** It was told that what comes next is no longer kept: it goes on at the earliest. */
  lose(earliest: string): void {
    this.lost.push([positionOf(this.cursor ?? ''), positionOf(earliest)])
    this.cursor = earliest
  }

  hasLost(position: number): boolean {
    return this.lost.some(([after, through]) => position > after && position <= through)
  }
}

/** The position in a cursor: callers must not know, a test of the server may. */
export function positionOf(cursor: string): number {
  return Number(Buffer.from(cursor, 'base64url').toString().split(':')[1])
}
