import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Connection, openConnection } from '../../server/store/sqlite/connection.js'
import { migrate } from '../../server/store/sqlite/migrate.js'
import { StoreReader } from '../../server/store/sqlite/reader.js'
import { StoreRoom } from '../../server/store/sqlite/store-room.js'
import { StoreWriter } from '../../server/store/sqlite/writer.js'
import type { TaskQuery } from '../../server/store/task-store.js'
import type { EndState, TaskState } from '../../server/task/task.js'

const ENDED: readonly EndState[] = ['succeeded', 'failed', 'cancelled', 'expired']
const HANDLERS = 5
const TASKS = 2_000

/** Rows enough for the planner to care, with the statistics that it would have. */
function fill(connection: Connection): void {
  for (let i = 1; i <= HANDLERS; i++) connection.prepare('INSERT INTO handlers VALUES (?, ?)').run(i, `h${i}`)
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${TASKS})`
  const live = `'', 'w' || i, 1 + i % ${HANDLERS}, i, 1, 0, NULL, NULL, 0, x'00', x'00'`
  connection.exec(`
    ${numbers} INSERT INTO waiting SELECT i, ${live}, 0, i % 5, i, 0 FROM n;
    ${numbers} INSERT INTO near SELECT ${TASKS} + i, ${live} FROM n;
    ${numbers} INSERT INTO ids SELECT '', 'w' || i, i FROM n;
    ${numbers} INSERT INTO ended SELECT 2 * ${TASKS} + i, 'e' || i, i, i, 3 + i % 4, 1 + i % ${HANDLERS} FROM n;
    ${numbers} INSERT INTO runs SELECT i, 1, i FROM n;
    ANALYZE;`)
}

describe('every statement of the store', () => {
  let connection: Connection
  const prepared = new Set<string>()

  beforeEach(() => {
    prepared.clear()
    connection = openConnection(':memory:')
    migrate(connection, '', 0)
    fill(connection)
    const prepare = connection.prepare.bind(connection)
    Object.defineProperty(connection, 'prepare', {
      value: (sql: string) => {
        prepared.add(sql)
        return prepare(sql)
      },
    })
  })
  afterEach(() => connection.close())

  /** How SQLite would run a statement, a line for each step. */
  const plan = (sql: string): string[] => {
    const explain = connection.prepare(`EXPLAIN QUERY PLAN ${sql}`)
    return (explain.all() as { detail: string }[]).map(({ detail }) => detail)
  }
  /** Steps that walk through a table, unless only to its first or last row. */
  const walks = (sql: string): string[] => {
    const steps = plan(sql)
    if (sql.endsWith(' LIMIT 1') && !steps.some((step) => step.includes('TEMP B-TREE'))) return []
    return steps.filter((step) => /^SCAN (?!(e|p|json_each)\b|CONSTANT ROW)/.test(step))
  }

  it('of the writer finds its rows by a key: no walk over a table', () => {
    expect(new StoreWriter(connection, new StoreRoom(connection, '', 0))).toBeDefined()
    const walking = [...prepared].filter((sql) => walks(sql).length > 0)
    // what is read whole when the store is opened: a few handlers, and what a scheduler held
    expect(walking.map((sql) => sql.replace(/ .* FROM/, ' … FROM'))).toEqual([
      'SELECT … FROM handlers',
      'SELECT … FROM near ORDER BY arrival',
    ])
  })

  it('that joins ids with a table starts from the ids', () => {
    expect(new StoreWriter(connection, new StoreRoom(connection, '', 0))).toBeDefined()
    const joins = [...prepared].filter((sql) => sql.includes('JOIN'))
    expect(joins.length).toBeGreaterThan(1)
    for (const sql of joins) expect(plan(sql)[0]).toMatch(/^SCAN e VIRTUAL TABLE/)
  })

  it('of the log reader finds its rows by a key', () => {
    expect(new StoreReader(connection)).toBeDefined()
    const found = [...prepared].filter((sql) => walks(sql).length > 0)
    // a few handlers, read whole when the store is opened
    expect(found).toEqual(['SELECT number, name FROM handlers'])
  })

  describe('that lists tasks', () => {
    const stepsOf = (given: Partial<TaskQuery>): string[] => {
      const reader = new StoreReader(connection)
      prepared.clear()
      reader.run({ kind: 'list', query: { states: [], handlers: [], labels: {}, limit: 10, ...given } })
      const after = { dueTime: 50, id: 'w50' }
      reader.run({
        kind: 'list',
        query: { states: [], handlers: [], labels: {}, limit: 10, after, ...given },
      })
      return [...prepared].filter((sql) => sql.includes('ORDER BY due')).flatMap(plan)
    }

    it.each<[string, readonly TaskState[], readonly string[]]>([
      ['all', [], []],
      ['waiting ones', ['scheduled'], []],
      ['ended ones', ENDED, []],
      ['succeeded ones of a handler', ['succeeded'], ['h1']],
    ])('walks along the index by due time: %s', (_, states, handlers) => {
      const steps = stepsOf({ states, handlers })
      expect(steps).not.toEqual([])
      // what a scheduler holds is bounded, has no such index, and is sorted
      const others = steps.filter((step) => step !== 'SCAN near' && !step.startsWith('USE TEMP B-TREE'))
      expect(others.filter((step) => !/^SEARCH \w+ USING (COVERING )?INDEX/.test(step))).toEqual([])
    })

    it.each<[string, readonly TaskState[], readonly string[]]>([
      ['failed ones of a handler', ['failed'], ['h1']],
      ['failed ones of all handlers', ['failed'], []],
      ['failed and expired ones of two handlers', ['failed', 'expired'], ['h1', 'h2']],
    ])(
      'uses the index of what did not succeed, which the planner takes only with its condition said: %s',
      (_, states, handlers) => {
        const steps = stepsOf({ states, handlers })
        expect(steps).not.toEqual([])
        for (const step of steps) expect(step).toContain('INDEX ended_not_succeeded (state=? AND handler=?')
      },
    )
  })
})
