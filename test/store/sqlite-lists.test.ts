import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TaskQuery } from '../../server/store/task-store.js'
import { inMemory } from './sqlite-worlds.js'
import { StoreWorld } from './store-world.js'
import { ending, named, newTask, START } from './stored-tasks.js'

describe('a page of tasks whose filter lets hardly any through', () => {
  let world: StoreWorld
  beforeEach(async () => {
    world = await StoreWorld.make(inMemory)
  })
  afterEach(() => world.end())

  it('is short after 10,000 rows were looked at, and says where to go on', async () => {
    const tasks = await world.add(Array.from({ length: 10_005 }, () => newTask()))
    await world.store.update(tasks.slice(0, 5_000).map((task) => ending(task)))
    await world.addOne(named('the one', { dueTime: START + 1, spec: { labels: { wanted: 'yes' } } }), false)
    const query: TaskQuery = { states: [], handlers: [], labels: { wanted: 'yes' }, limit: 10 }
    const first = await world.store.list(query)
    expect(first).toMatchObject({ tasks: [], next: { dueTime: START } })
    const second = await world.store.list({ ...query, ...(first.next && { after: first.next }) })
    expect(second.tasks.map(({ spec }) => spec.id)).toEqual(['the one'])
    expect(second.next).toBeUndefined()
  })
})
