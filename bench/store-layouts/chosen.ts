import {
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

/**
 * F: the chosen one, E1 with every column the questions need: one row a live task with its index by
 * (priority, due), ids as they come (a UUID as 16 bytes), log blobs, one slim row an ended task.
 */
export const chosen: LayoutMaker = (db) => {
  db.exec(`CREATE TABLE tasks(arrival INTEGER PRIMARY KEY, namespace TEXT NOT NULL, id NOT NULL, priority INT, due INT, state INT, handler INT, start_id INT, spec BLOB);
    CREATE INDEX tasks_due ON tasks(priority, due);
    CREATE TABLE ids(namespace TEXT NOT NULL, id NOT NULL, arrival INT, hash BLOB, PRIMARY KEY(namespace, id)) WITHOUT ROWID;
    CREATE TABLE log(first_sequence INTEGER PRIMARY KEY, n INT, commit_time INT, body BLOB);
    CREATE TABLE ended(arrival INTEGER PRIMARY KEY, sequence INT, due INT, state INT, handler INT);
    CREATE INDEX ended_due ON ended(due);
    CREATE INDEX ended_other ON ended(state, handler, due) WHERE state <> 4;`)
  const key = "CASE WHEN ?4 THEN unhex(value,'-') ELSE value END"
  const int = (blob: string, from: number, length: number) =>
    `CAST(substr(${blob},${from}+key*19,${length}) AS INT)`
  const id = db.prepare(
    `INSERT OR IGNORE INTO ids SELECT '', ${key}, ?2+key, substr(?3,1+key*8,8) FROM json_each(?1)`,
  )
  const insert = db.prepare(
    `INSERT INTO tasks SELECT ?2+key, '', ${key}, 0, ${int('?3', 1, 13)}, 1, ${int('?3', 15, 5)}, NULL, substr(?5,1+key*150,150) FROM json_each(?1)`,
  )
  const begin = db.prepare(
    'UPDATE tasks SET state=2, start_id=?2+arrival WHERE arrival IN (SELECT value FROM json_each(?1))',
  )
  const gone = db.prepare('DELETE FROM tasks WHERE arrival IN (SELECT value FROM json_each(?))')
  const log = db.prepare('INSERT INTO log VALUES(?,?,0,?)')
  const list = db.prepare(
    `INSERT INTO ended SELECT value, ?2+key, ${int('?3', 1, 13)}, ${int('?3', 14, 1)}, ${int('?3', 15, 5)} FROM json_each(?1)`,
  )
  const dropLog = db.prepare('DELETE FROM log WHERE first_sequence=?')
  const dropId = db.prepare(
    `DELETE FROM ids WHERE (namespace,id) IN (SELECT '', ${key.replace('?4', '?2')} FROM json_each(?1))`,
  )
  const dropEnded = db.prepare('DELETE FROM ended WHERE arrival IN (SELECT value FROM json_each(?))')
  const isUuid = (task: BenchTask | undefined) => (task?.id.length === 36 ? 1 : 0)
  return {
    put: (tasks) => {
      const first = tasks[0]?.arrival ?? 0
      const ids = idList(tasks)
      if (id.run(ids, first, hashes(tasks), isUuid(tasks[0])).changes !== tasks.length) conflict()
      insert.run(ids, first, fields(tasks), isUuid(tasks[0]), packed(tasks))
    },
    start: (tasks) => {
      begin.run(arrivals(tasks), tasks[0]?.arrival ?? 0)
    },
    finish: (tasks, first) => {
      const ended = arrivals(tasks)
      gone.run(ended)
      log.run(first, tasks.length, packedResults(tasks))
      list.run(ended, first, fields(tasks))
    },
    purge: (tasks, first) => {
      dropLog.run(first)
      dropId.run(idList(tasks), isUuid(tasks[0]))
      dropEnded.run(arrivals(tasks))
    },
  }
}
