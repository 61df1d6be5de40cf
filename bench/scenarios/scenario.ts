import type { Figure } from '../measure/figure.js'
import type { CallerProcess } from '../processes/caller-process.js'
import type { EchoProcess } from '../processes/echo-process.js'
import type { Scale } from './scale.js'

/** What every scenario is given. */
export interface World {
  readonly scale: Scale
  readonly caller: CallerProcess
  readonly echo: EchoProcess
  /** Tells people what is going on. */
  readonly say: (line: string) => void
}

/** A question that the bench answers. */
export interface Scenario {
  readonly name: string
  readonly run: (world: World) => Promise<readonly Figure[]>
}

/**
 * Runs things one beside the other: one round of each, again and again, after a first round that only warms up. Whatever else the machine does meanwhile
 * happens to all of them alike.
 */
export async function sideBySide<Names extends string, Told>(
  runs: number,
  things: Readonly<Record<Names, () => Promise<Told>>>,
): Promise<Record<Names, Told[]>> {
  const names = Object.keys(things) as Names[]
  const told = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Names, Told[]>
  for (let round = -1; round < runs; round++) {
    for (const name of names) {
      const one = await things[name]()
      if (round >= 0) told[name].push(one)
    }
  }
  return told
}
