import { readdirSync, readFileSync } from 'node:fs'

/** What a process has used since it began. */
export interface ProcessCost {
  /** Microseconds of CPU, all threads. */
  readonly cpuUs: number
  /** Of these, the main thread's. */
  readonly mainUs: number
  /** How often its threads went to sleep and were woken. */
  readonly wakeUps: number
}

const NOTHING: ProcessCost = { cpuUs: Number.NaN, mainUs: Number.NaN, wakeUps: Number.NaN }

/**
 * Reads what the kernel counts for each thread: nanoseconds, where `/proc/PID/stat` has ticks of 10 ms. Threads that have ended are not in it.
 * On systems without `/proc` every number is NaN, and the report leaves it out.
 */
export function processCost(pid: number): ProcessCost {
  try {
    let cpuUs = 0
    let wakeUps = 0
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const folder = `/proc/${pid}/task/${thread}`
      cpuUs += threadUs(folder)
      wakeUps += Number(field(readFileSync(`${folder}/status`, 'utf8'), 'voluntary_ctxt_switches'))
    }
    return { cpuUs, mainUs: threadUs(`/proc/${pid}`), wakeUps }
  } catch {
    return NOTHING
  }
}

/** What was used between two readings. */
export function costBetween(before: ProcessCost, after: ProcessCost): ProcessCost {
  return {
    cpuUs: after.cpuUs - before.cpuUs,
    mainUs: after.mainUs - before.mainUs,
    wakeUps: after.wakeUps - before.wakeUps,
  }
}

/** Resident memory of a process in bytes, NaN where it cannot be known. */
export function residentBytes(pid: number): number {
  try {
    return Number.parseInt(field(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmRSS')) * 1_024
  } catch {
    return Number.NaN
  }
}

function threadUs(folder: string): number {
  return Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ')[0]) / 1_000
}

function field(status: string, name: string): string {
  return status.match(new RegExp(`^${name}:\\s*(.*)$`, 'm'))?.[1] ?? ''
}
