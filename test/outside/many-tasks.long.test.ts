import { manyTasks } from './many-tasks.js'

manyTasks({ waiting: 1_000_000, atOnce: 50_000 })
