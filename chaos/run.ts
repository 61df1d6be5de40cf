import { parseArgs } from 'node:util'
import { createClient } from '../client/index.js'
import { chaos } from './chaos.js'

const USAGE = `npm run chaos -- [--kills N] [--seed S] [--keep]

Kills a server N times (default 10) under a load of every kind of task, with other faults in between, and holds
what happened to what was promised. --keep leaves its data, journal and log behind; a broken promise does, too.`

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '10' },
    seed: { type: 'string' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const kills = Number(values.kills)
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed)
if (values.help) {
  console.log(USAGE)
} else if (!Number.isSafeInteger(kills) || kills < 1 || !Number.isSafeInteger(seed)) {
  console.error(`--kills and --seed must be whole numbers, --kills at least 1\n\n${USAGE}`)
  process.exitCode = 2
} else {
  // so that no server is left behind
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  const held = await chaos({
    kills,
    seed,
    keep: values.keep,
    connect: (address) => createClient({ address }),
  })
  process.exitCode = held ? 0 : 1
}
