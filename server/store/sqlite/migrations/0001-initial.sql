-- Why this layout: docs/decisions/store-layout.md.

-- Single values: log id, next start id, clean stop, counts.
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- Handler names as small numbers.
CREATE TABLE handlers (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

-- Every remembered id. A UUID is kept as its 16 bytes; other ids as they are, which keeps the locality of ordered ids.
CREATE TABLE ids (namespace TEXT NOT NULL, id NOT NULL, arrival INTEGER NOT NULL, PRIMARY KEY (namespace, id)) WITHOUT ROWID;

-- Live tasks that a scheduler holds in memory: found by arrival only, so no index by due time. `attempts` and `start_us`: of a start that was noted after
-- the head was written; null = none was.
CREATE TABLE near (
  arrival INTEGER PRIMARY KEY, namespace TEXT NOT NULL, id NOT NULL, handler INTEGER NOT NULL, due INTEGER NOT NULL, state INTEGER NOT NULL,
  start_id INTEGER NOT NULL, attempts INTEGER, start_us INTEGER, log_position INTEGER NOT NULL, head BLOB NOT NULL, spec BLOB NOT NULL
);

-- Live tasks that no scheduler holds.
CREATE TABLE waiting (
  arrival INTEGER PRIMARY KEY, namespace TEXT NOT NULL, id NOT NULL, handler INTEGER NOT NULL, due INTEGER NOT NULL, state INTEGER NOT NULL,
  start_id INTEGER NOT NULL, attempts INTEGER, start_us INTEGER, log_position INTEGER NOT NULL, head BLOB NOT NULL, spec BLOB NOT NULL,
  shard INTEGER NOT NULL, priority INTEGER NOT NULL, not_before INTEGER NOT NULL, paused INTEGER NOT NULL
);
-- Equal priority: order by not_before is order by start key; so one short walk a priority finds the smallest start keys.
CREATE INDEX waiting_window ON waiting (priority, not_before, arrival) WHERE paused = 0 AND state = 1;
CREATE INDEX waiting_due ON waiting (due, id);

-- The result log: one row a commit; the body holds each entry's filter fields, encoded result and, for a task's last result, the task. `expires`: of a row of which
-- retention has left something, when it must look at it again; `entries` are then the results that are left.
CREATE TABLE log (
  first_position INTEGER PRIMARY KEY, last_position INTEGER NOT NULL, commit_time INTEGER NOT NULL, entries INTEGER NOT NULL, expires INTEGER, body BLOB NOT NULL
);
CREATE INDEX log_time ON log (commit_time, first_position);
CREATE INDEX log_left ON log (expires) WHERE expires IS NOT NULL;
CREATE INDEX log_kept ON log (first_position) WHERE expires IS NOT NULL AND entries > 0;

-- Ended tasks; the task itself is in the log entry at `position`.
CREATE TABLE ended (arrival INTEGER PRIMARY KEY, id NOT NULL, position INTEGER NOT NULL, due INTEGER NOT NULL, state INTEGER NOT NULL, handler INTEGER NOT NULL);
CREATE INDEX ended_due ON ended (due, id);
CREATE INDEX ended_not_succeeded ON ended (state, handler, due, id) WHERE state <> 3;

-- Results of runs that did not end their task: of recurring and of replaced tasks.
CREATE TABLE runs (arrival INTEGER NOT NULL, run INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (arrival, run)) WITHOUT ROWID;

-- Durable consumers of the log: how far each has acknowledged, and what it reads.
CREATE TABLE consumers (
  namespace TEXT NOT NULL, name TEXT NOT NULL, position INTEGER NOT NULL, filter TEXT NOT NULL, lossy INTEGER NOT NULL, created INTEGER NOT NULL,
  active INTEGER NOT NULL, PRIMARY KEY (namespace, name)
) WITHOUT ROWID;
