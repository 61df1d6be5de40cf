import { manyTasks } from './many-tasks.js'

// a million is in the long form
manyTasks({ waiting: 50_000, atOnce: 20_000 })
