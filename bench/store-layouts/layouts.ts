import { hash } from 'node:crypto'
import { chosen } from './chosen.js'
import {
  RESULT,
  arrivals,
  conflict,
  fields,
  hashes,
  idList,
  type LayoutMaker,
  packed,
  packedResults,
} from './layout.js'
import type { BenchTask } from './workload.js'

/** A: one row a task for its whole life, an index on the start key, a row a result. One statement a row. */
const rowPerTask: LayoutMaker = (db) => {
  db.exec(`CREATE TABLE tasks(arrival INTEGER PRIMARY KEY, id TEXT, due INT, start_key INT, state INT, handler INT, spec BLOB, start_id INT, last_sequence INT);
    CREATE INDEX tasks_due ON tasks(start_key, arrival) WHERE state = 1;
    CREATE INDEX tasks_list ON tasks(due, arrival);
    CREATE TABLE ids(id TEXT PRIMARY KEY, arrival INT, hash BLOB) WITHOUT ROWID;
    CREATE TABLE log(sequence INTEGER PRIMARY KEY, arrival INT, body BLOB);`)
  const id = db.prepare('INSERT OR IGNORE INTO ids VALUES(?,?,?)')
  const row = db.prepare('INSERT INTO tasks VALUES(?,?,?,?,1,?,?,NULL,NULL)')
  const begin = db.prepare('UPDATE tasks SET state=2, start_id=? WHERE arrival=?')
  const end = db.prepare('UPDATE tasks SET state=4, last_sequence=?, spec=NULL WHERE arrival=?')
  const log = db.prepare('INSERT INTO log VALUES(?,?,?)')
  const dropId = db.prepare('DELETE FROM ids WHERE id=?')
  const dropTask = db.prepare('DELETE FROM tasks WHERE arrival=?')
  const dropLog = db.prepare('DELETE FROM log WHERE sequence=?')
  return {
    put: (tasks) => {
      for (const t of tasks) {
        if (id.run(t.id, t.arrival, t.hash).changes !== 1) conflict()
        row.run(t.arrival, t.id, t.due, t.due, t.handler, t.spec)
      }
    },
    start: (tasks) => {
      for (const t of tasks) begin.run(t.arrival, t.arrival)
    },
    finish: (tasks, first) => {
      tasks.forEach((t, i) => {
        end.run(first + i, t.arrival)
        log.run(first + i, t.arrival, RESULT)
      })
    },
    purge: (tasks, first) => {
      tasks.forEach((t, i) => {
        dropId.run(t.id)
        dropTask.run(t.arrival)
        dropLog.run(first + i)
      })
    },
  }
}

/** B: near rows without a due index, deleted when ended; ids carry the end; a row a result; a list row. One statement a row. */
const nearRows: LayoutMaker = (db) => {
  db.exec(`CREATE TABLE near(arrival INTEGER PRIMARY KEY, id TEXT, due INT, handler INT, spec BLOB, start_id INT);
    CREATE TABLE ids(id TEXT PRIMARY KEY, arrival INT, hash BLOB, state INT, last_sequence INT) WITHOUT ROWID;
    CREATE TABLE log(sequence INTEGER PRIMARY KEY, arrival INT, body BLOB);
    CREATE TABLE ended(due INT, arrival INT, sequence INT, state INT, handler INT, PRIMARY KEY(due, arrival)) WITHOUT ROWID;`)
  const id = db.prepare('INSERT OR IGNORE INTO ids VALUES(?,?,?,1,NULL)')
  const row = db.prepare('INSERT INTO near VALUES(?,?,?,?,?,NULL)')
  const begin = db.prepare('UPDATE near SET start_id=? WHERE arrival=?')
  const gone = db.prepare('DELETE FROM near WHERE arrival=?')
  const end = db.prepare('UPDATE ids SET state=4, last_sequence=? WHERE id=?')
  const log = db.prepare('INSERT INTO log VALUES(?,?,?)')
  const list = db.prepare('INSERT INTO ended VALUES(?,?,?,4,?)')
  const dropId = db.prepare('DELETE FROM ids WHERE id=?')
  const dropLog = db.prepare('DELETE FROM log WHERE sequence=?')
  const dropList = db.prepare('DELETE FROM ended WHERE due=? AND arrival=?')
  return {
    put: (tasks) => {
      for (const t of tasks) {
        if (id.run(t.id, t.arrival, t.hash).changes !== 1) conflict()
        row.run(t.arrival, t.id, t.due, t.handler, t.spec)
      }
    },
    start: (tasks) => {
      for (const t of tasks) begin.run(t.arrival, t.arrival)
    },
    finish: (tasks, first) => {
      tasks.forEach((t, i) => {
        gone.run(t.arrival)
        end.run(first + i, t.id)
        log.run(first + i, t.arrival, RESULT)
        list.run(t.due, t.arrival, first + i, t.handler)
      })
    },
    purge: (tasks, first) => {
      tasks.forEach((t, i) => {
        dropId.run(t.id)
        dropLog.run(first + i)
        dropList.run(t.due, t.arrival)
      })
    },
  }
}

/** C: near tasks and results as one blob a commit; ids and list rows one statement each. D: the same with 16-byte hashes as ids. */
const blobs =
  (key: (id: string) => string | Buffer): LayoutMaker =>
  (db) => {
    db.exec(`CREATE TABLE near(first_arrival INTEGER PRIMARY KEY, n INT, body BLOB);
    CREATE TABLE ids(id PRIMARY KEY, arrival INT, hash BLOB, state INT, last_sequence INT) WITHOUT ROWID;
    CREATE TABLE log(first_sequence INTEGER PRIMARY KEY, n INT, body BLOB);
    CREATE TABLE ended(due INT, arrival INT, sequence INT, state INT, handler INT, PRIMARY KEY(due, arrival)) WITHOUT ROWID;
    CREATE TABLE starts(arrival INTEGER PRIMARY KEY, start_id INT);`)
    const id = db.prepare('INSERT OR IGNORE INTO ids VALUES(?,?,?,1,NULL)')
    const near = db.prepare('INSERT INTO near VALUES(?,?,?)')
    const gone = db.prepare('DELETE FROM near WHERE first_arrival=?')
    const begin = db.prepare('INSERT INTO starts VALUES(?,?)')
    const begun = db.prepare('DELETE FROM starts WHERE arrival BETWEEN ? AND ?')
    const end = db.prepare('UPDATE ids SET state=4, last_sequence=? WHERE id=?')
    const log = db.prepare('INSERT INTO log VALUES(?,?,?)')
    const list = db.prepare('INSERT INTO ended VALUES(?,?,?,4,?)')
    const dropId = db.prepare('DELETE FROM ids WHERE id=?')
    const dropLog = db.prepare('DELETE FROM log WHERE first_sequence=?')
    const dropList = db.prepare('DELETE FROM ended WHERE due=? AND arrival=?')
    return {
      put: (tasks) => {
        for (const t of tasks) if (id.run(key(t.id), t.arrival, t.hash).changes !== 1) conflict()
        near.run(tasks[0]?.arrival ?? 0, tasks.length, packed(tasks))
      },
      start: (tasks) => {
        for (const t of tasks) begin.run(t.arrival, t.arrival)
      },
      finish: (tasks, first) => {
        gone.run(tasks[0]?.arrival ?? 0)
        begun.run(tasks[0]?.arrival ?? 0, tasks.at(-1)?.arrival ?? 0)
        log.run(first, tasks.length, packedResults(tasks))
        tasks.forEach((t, i) => {
          end.run(first + i, key(t.id))
          list.run(t.due, t.arrival, first + i, t.handler)
        })
      },
      purge: (tasks, first) => {
        dropLog.run(first)
        for (const t of tasks) {
          dropId.run(key(t.id))
          dropList.run(t.due, t.arrival)
        }
      },
    }
  }

const nearBlobs = blobs((id) => id)
const hashedIds = blobs((id) => hash('md5', id, 'buffer'))

/**
 * E: one statement a batch. Ids never change after they are written; what became of a task is kept by
 * arrival, which is dense, so random ids cost one random page a task instead of two.
 */
const sets =
  (options: { near: 'rows' | 'blob'; list: 'index' | 'none'; uuid: boolean }): LayoutMaker =>
  (db) => {
    const idKey = options.uuid ? "CASE WHEN ?4 THEN unhex(value,'-') ELSE value END" : 'value'
    db.exec(`CREATE TABLE ids(id PRIMARY KEY, arrival INT, hash BLOB) WITHOUT ROWID;
    CREATE TABLE log(first_sequence INTEGER PRIMARY KEY, n INT, body BLOB);`)
    db.exec(
      options.near === 'rows'
        ? 'CREATE TABLE tasks(arrival INTEGER PRIMARY KEY, start_id INT, body BLOB)'
        : 'CREATE TABLE near(first_arrival INTEGER PRIMARY KEY, n INT, body BLOB); CREATE TABLE starts(arrival INTEGER PRIMARY KEY, start_id INT)',
    )
    db.exec('CREATE TABLE ended(arrival INTEGER PRIMARY KEY, sequence INT, due INT, state INT, handler INT)')
    if (options.list === 'index')
      db.exec(
        'CREATE INDEX ended_list ON ended(due); CREATE INDEX ended_failed ON ended(handler, due) WHERE state <> 4',
      )
    const id = db.prepare(
      `INSERT OR IGNORE INTO ids SELECT ${idKey}, ?2+key, substr(?3,1+key*8,8) FROM json_each(?1)${options.uuid ? '' : ' WHERE ?4 IS NOT NULL'}`,
    )
    const dropId = db.prepare(
      `DELETE FROM ids WHERE id IN (SELECT ${idKey.replace('?4', '?2')} FROM json_each(?1)${options.uuid ? '' : ' WHERE ?2 IS NOT NULL'})`,
    )
    const log = db.prepare('INSERT INTO log VALUES(?,?,?)')
    const dropLog = db.prepare('DELETE FROM log WHERE first_sequence=?')
    const list =
      db.prepare(`INSERT INTO ended SELECT value, ?2+key, CAST(substr(?3,1+key*19,13) AS INT), CAST(substr(?3,14+key*19,1) AS INT),
      CAST(substr(?3,15+key*19,5) AS INT) FROM json_each(?1)`)
    const dropList = db.prepare('DELETE FROM ended WHERE arrival IN (SELECT value FROM json_each(?))')
    const isUuid = (task: BenchTask | undefined) => (task?.id.length === 36 ? 1 : 0)
    const rows = options.near === 'rows'
    const insert = db.prepare(
      rows
        ? 'INSERT INTO tasks SELECT ?2+key, NULL, substr(?1, 1+value, 150) FROM json_each(?3)'
        : 'INSERT INTO near VALUES(?2,?3,?1)',
    )
    const gone = db.prepare(
      rows
        ? 'DELETE FROM tasks WHERE arrival IN (SELECT value FROM json_each(?))'
        : 'DELETE FROM near WHERE first_arrival=?',
    )
    const begin = db.prepare(
      rows
        ? 'UPDATE tasks SET start_id = ?2 + arrival WHERE arrival IN (SELECT value FROM json_each(?1))'
        : 'INSERT INTO starts SELECT value, ?2+key FROM json_each(?1)',
    )
    const begun = rows
      ? undefined
      : db.prepare('DELETE FROM starts WHERE arrival IN (SELECT value FROM json_each(?))')
    return {
      put: (tasks) => {
        const first = tasks[0]?.arrival ?? 0
        if (id.run(idList(tasks), first, hashes(tasks), isUuid(tasks[0])).changes !== tasks.length) conflict()
        insert.run(packed(tasks), first, rows ? JSON.stringify(tasks.map((_, i) => i * 150)) : tasks.length)
      },
      start: (tasks) => {
        begin.run(arrivals(tasks), tasks[0]?.arrival ?? 0)
      },
      finish: (tasks, first) => {
        const ended = arrivals(tasks)
        gone.run(rows ? ended : (tasks[0]?.arrival ?? 0))
        begun?.run(ended)
        log.run(first, tasks.length, packedResults(tasks))
        list.run(ended, first, fields(tasks))
      },
      purge: (tasks, first) => {
        dropLog.run(first)
        dropId.run(idList(tasks), isUuid(tasks[0]))
        dropList.run(arrivals(tasks))
      },
    }
  }

export const layouts: Record<string, LayoutMaker> = {
  'A row per task': rowPerTask,
  'B near rows': nearRows,
  'C near + log blobs': nearBlobs,
  'D C, hashed ids': hashedIds,
  'E1 sets, near rows': sets({ near: 'rows', list: 'index', uuid: true }),
  'E2 sets, near blob': sets({ near: 'blob', list: 'index', uuid: true }),
  'E3 E2, text ids': sets({ near: 'blob', list: 'index', uuid: false }),
  'E4 E2, no list index': sets({ near: 'blob', list: 'none', uuid: true }),
  'F chosen: E1 complete': chosen,
}
