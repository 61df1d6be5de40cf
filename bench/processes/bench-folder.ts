import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where everything lies that the bench writes while it runs; gone with the process. `TMPDIR` chooses the disk. */
export const BENCH_FOLDER = mkdtempSync(join(tmpdir(), 'punctual-bench-'))

process.once('exit', () => rmSync(BENCH_FOLDER, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
