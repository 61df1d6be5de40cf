import { DatabaseSync } from '@photostructure/sqlite'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dice } from './dice.js'
import type { Load } from './load.js'
import type { Victim } from './victim.js'

/** What a fault needs. */
export interface Scene {
  readonly victim: Victim
  readonly load: Load
  readonly dice: Dice
}

/** Something that goes wrong, and how it ends. */
export interface Fault {
  readonly name: string
  readonly weight: number
  strike(scene: Scene): Promise<void>
}

const DATABASE = 'punctual.db'
/** A file may still grow by this much when the disk "fills". */
const ROOM_BYTES = 64 * 1024

/** Ends the process at once and starts it again, sooner or later. */
export const KILL: Fault = {
  name: 'process killed (SIGKILL), started again',
  weight: 0,
  async strike({ victim, dice }) {
    await victim.kill()
    if (dice.chance(0.3)) await sleep(dice.int(0, 1_500))
    await victim.start()
  },
}

/** Faults between two kills. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'process killed while it starts',
    weight: 1,
    async strike({ victim, dice }) {
      await victim.kill()
      const starting = victim.start().catch(() => {})
      await sleep(dice.int(10, 600))
      await victim.kill()
      await starting
      await victim.start()
    },
  },
  {
    name: 'process stopped (SIGSTOP) and continued',
    weight: 2,
    async strike({ victim, dice }) {
      victim.signal('SIGSTOP')
      await sleep(dice.int(50, 2_500))
      victim.signal('SIGCONT')
    },
  },
  {
    name: 'store locked by another process',
    weight: 2,
    async strike({ victim, dice }) {
      const other = new DatabaseSync(join(victim.data, DATABASE), { timeout: 2_000 })
      try {
        other.exec('BEGIN IMMEDIATE')
        await sleep(dice.int(50, 2_500))
        other.exec('ROLLBACK')
      } finally {
        other.close()
      }
    },
  },
  {
    name: 'disk full (no file may grow), then not',
    weight: 2,
    async strike({ victim, dice }) {
      victim.limitFileSize(largestFile(victim) + ROOM_BYTES)
      await sleep(dice.int(300, 3_000))
      victim.limitFileSize(undefined)
    },
  },
  {
    name: 'disk full, then killed',
    weight: 1,
    async strike(scene) {
      const { victim, dice } = scene
      victim.limitFileSize(largestFile(victim) + ROOM_BYTES / 4)
      await sleep(dice.int(300, 2_000))
      await KILL.strike(scene)
    },
  },
  {
    name: 'handler that kills the server whenever it runs',
    weight: 0.4,
    strike({ load }) {
      load.killer()
      return Promise.resolve()
    },
  },
  { name: 'nothing', weight: 4, strike: () => Promise.resolve() },
]

function largestFile({ data, journal }: Victim): number {
  const files = [join(data, DATABASE), join(data, `${DATABASE}-wal`), journal]
  return Math.max(...files.map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0))
}
