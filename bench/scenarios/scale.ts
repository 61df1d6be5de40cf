/** How much is done: enough to be believed, or just enough to see that it works. */
export interface Scale {
  readonly name: 'smoke' | 'normal' | 'long'
  /** Rounds that count. */
  readonly runs: number
  /** Calls of a unary measurement. */
  readonly calls: number
  /** Tasks of one measured drain, or of a submission in batches. */
  readonly tasks: number
  /** Tasks that go through a server before its first measurement: until its code is compiled. */
  readonly warmUp: number
  /** Stores with so many waiting tasks. */
  readonly waiting: readonly number[]
  /** Seconds over which tasks are spread, and for which an idle server is watched. */
  readonly seconds: number
}

export const SCALES: Readonly<Record<Scale['name'], Scale>> = {
  smoke: { name: 'smoke', runs: 1, calls: 60, tasks: 512, warmUp: 256, waiting: [1_000], seconds: 1 },
  normal: {
    name: 'normal',
    runs: 5,
    calls: 4_000,
    tasks: 30_720,
    warmUp: 51_200,
    waiting: [10_000, 100_000, 1_000_000],
    seconds: 10,
  },
  long: {
    name: 'long',
    runs: 7,
    calls: 10_000,
    tasks: 102_400,
    warmUp: 102_400,
    waiting: [10_000, 100_000, 1_000_000, 10_000_000],
    seconds: 30,
  },
}
