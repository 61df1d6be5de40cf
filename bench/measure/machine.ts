import { execFileSync } from 'node:child_process'
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { type Spread, spreadOf } from './spread.js'

/** Where figures were made: without it none of them means anything. */
export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGb: number
  readonly system: string
  readonly node: string
  readonly commit: string
  readonly date: string
  /** Milliseconds to append 4 KiB and have them on disk. */
  readonly syncMs: Spread
  /** Processes that wanted a core during the last minute, the bench's own included. */
  readonly load: number
}

const SYNCS = 30

/** @param folder - Where the stores of the bench will lie. */
export function thisMachine(folder: string): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()}`,
    node: process.version,
    commit: commit(),
    date: new Date().toISOString().slice(0, 16),
    syncMs: syncTimes(folder),
    load: loadAverage(),
  }
}

/** The load average of the last minute. */
export function loadAverage(): number {
  return Math.round((loadavg()[0] ?? Number.NaN) * 10) / 10
}

/** In one line. */
export function machineLine(machine: Machine): string {
  const { cpu, cores, memoryGb, system, node, syncMs, date, load } = machine
  const sync = `fdatasync of 4 KiB ${syncMs.median.toFixed(2)} ms (${syncMs.least.toFixed(2)}–${syncMs.most.toFixed(2)})`
  return `${cores} cores (${cpu}), ${memoryGb} GB, ${system}, Node ${node}; ${sync}; ${date} UTC, load average ${load} at the start`
}

function syncTimes(folder: string): Spread {
  const scratch = mkdtempSync(join(folder, 'sync-'))
  const file = openSync(join(scratch, 'file'), 'a')
  const block = Buffer.alloc(4_096, 1)
  try {
    const times = Array.from({ length: SYNCS }, () => {
      const since = performance.now()
      writeSync(file, block)
      fdatasyncSync(file)
      return performance.now() - since
    })
    return spreadOf(times)
  } finally {
    closeSync(file)
    rmSync(scratch, { recursive: true })
  }
}

function commit(): string {
  try {
    const git = (...args: string[]): string =>
      execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' }).trim()
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', 'server', 'client', 'proto') === '' ? '' : ' with changes'}`
  } catch {
    return 'unknown'
  }
}
