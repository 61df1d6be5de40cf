/** What was found out about one invariant. */
export interface Finding {
  readonly invariant: string
  /** How many things were looked at. */
  readonly checked: number
  /** How many of them break it. */
  readonly broken: number
  /** The first few that do. */
  readonly examples: readonly string[]
}

const EXAMPLES = 5

/** Counts what holds to an invariant and what does not. */
export class Tally implements Finding {
  readonly invariant: string
  readonly examples: string[] = []
  checked = 0
  broken = 0

  constructor(invariant: string) {
    this.invariant = invariant
  }

  /** @param fault - Says what is wrong; undefined = nothing is. */
  note(fault: string | undefined): void {
    this.checked += 1
    if (fault === undefined) return
    this.broken += 1
    if (this.examples.length < EXAMPLES) this.examples.push(fault)
  }
}
