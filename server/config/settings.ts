import { availableParallelism } from 'node:os'
import type { z } from 'zod'
import {
  address,
  bytes,
  bytesText,
  choice,
  count,
  duration,
  durationText,
  list,
  text,
  yesNo,
} from './kinds.js'

/** One setting: everything that help, environment, file and docs say of it is made from this. */
export interface Setting<T = unknown> {
  /** Checks and reads what was given; its message says what would be right. */
  readonly kind: z.ZodType<T>
  /** When nothing was given, as it would be written; absent = none. */
  readonly initial?: string
  /** What the value is, for help: `<dir>`. Absent: a switch. */
  readonly value?: string
  readonly description: string
}

const KiB = 2 ** 10
const MiB = 2 ** 20
const GiB = 2 ** 30
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const cores = availableParallelism()

/**
 * Every setting of the server, by its name: `tlsCert` is `--tls-cert`, `PUNCTUAL_TLS_CERT` and `tls_cert` in the file. A flag wins over the environment, that over the file,
 * that over the default.
 */
export const SETTINGS = {
  data: {
    kind: text,
    initial: 'data',
    value: 'dir',
    description:
      'Folder of the store, made if missing; one server at a time. :memory: keeps nothing after the end.',
  },
  durability: {
    kind: choice(['full', 'relaxed']),
    initial: 'full',
    value: 'level',
    description:
      'full: what was acknowledged is on disk. relaxed: faster, but a power cut may lose the last moments (a crash of the server does not).',
  },
  listen: {
    kind: address,
    initial: '127.0.0.1:50051',
    value: 'host:port',
    description: 'Address for gRPC. Another one than loopback needs --tls-cert and --tls-key, or --insecure.',
  },
  handlers: {
    kind: list,
    value: 'module',
    description:
      'ES module that exports your handlers; several with commas. Without it: fibonacci, echo, sleep.',
  },
  tlsCert: {
    kind: text,
    value: 'file',
    description: 'PEM certificate (chain) of the server: turns TLS on.',
  },
  tlsKey: { kind: text, value: 'file', description: 'PEM key of the certificate.' },
  tlsCa: {
    kind: text,
    value: 'file',
    description: 'PEM authority: only callers with a certificate of it are let in (mutual TLS).',
  },
  insecure: {
    kind: yesNo,
    initial: 'false',
    description:
      'Listen without TLS on an address that others can reach. Anyone there can then run your handlers.',
  },
  scheduler: {
    kind: choice(['heap', 'dynamic-sleep', 'polling', 'worker-pool']),
    initial: 'heap',
    value: 'name',
    description: 'How due tasks are found: heap, or one of the three classic designs, to compare.',
  },
  threads: {
    kind: count({ min: 1, max: 1_024 }),
    initial: String(cores),
    value: 'count',
    description:
      'Slots of lane "thread": worker threads, one attempt each. Default: the cores of the machine.',
  },
  sharedSlots: {
    kind: count({ min: 1, max: 100_000 }),
    value: 'count',
    description:
      'Slots of lane "shared": attempts that wait side by side in one thread. Default: 256; 1,000 with --scheduler polling.',
  },
  threadMemory: {
    kind: bytes({ min: 16 * MiB, max: 1_024 * GiB }),
    initial: bytesText(512 * MiB),
    value: 'size',
    description: 'JavaScript heap of a worker thread; an attempt that needs more FAILS with OUT_OF_MEMORY.',
  },
  handlerEnv: {
    kind: list,
    value: 'names',
    description: 'Environment variables that handlers may see, with commas. Default: none.',
  },
  window: {
    kind: duration({ min: SECOND, max: 24 * HOUR }),
    initial: durationText(MINUTE),
    value: 'time',
    description: 'Tasks due within this are in memory; later ones wait on disk.',
  },
  windowTasks: {
    kind: count({ min: 100, max: 10_000_000 }),
    initial: '100000',
    value: 'count',
    description: 'Waiting tasks in memory at most.',
  },
  priorityStep: {
    kind: duration({ min: 0, max: 24 * HOUR }),
    initial: durationText(10 * SECOND),
    value: 'time',
    description: 'What one step of priority outweighs in waiting.',
  },
  hold: {
    kind: yesNo,
    initial: 'false',
    description:
      'Start without starting tasks: to look around and cancel after an outage. Ends with the process.',
  },
  maxInputBytes: {
    kind: bytes({ min: KiB, max: 16 * MiB }),
    initial: bytesText(MiB),
    value: 'size',
    description: 'Limit of one input, as JSON text or bytes.',
  },
  maxOutputBytes: {
    kind: bytes({ min: KiB, max: 2 * MiB }),
    initial: bytesText(MiB),
    value: 'size',
    description: 'Limit of one output; a larger one FAILS the attempt (OUTPUT_TOO_LARGE).',
  },
  maxMessageBytes: {
    kind: bytes({ min: 64 * KiB, max: 256 * MiB }),
    initial: bytesText(4 * MiB),
    value: 'size',
    description: 'Limit of one request, batches included.',
  },
  maxWaitingTasks: {
    kind: count({ min: 1, max: 1_000_000_000 }),
    initial: '10000000',
    value: 'count',
    description: 'SCHEDULED tasks; beyond it new ones are refused (TOO_MANY_TASKS).',
  },
  maxStoreBytes: {
    kind: bytes({ min: MiB, max: 1_024 * 1_024 * GiB }),
    initial: bytesText(64 * GiB),
    value: 'size',
    description: 'Budget of the store; beyond it new tasks are refused (STORE_FULL).',
  },
  keepResults: {
    kind: duration({ min: MINUTE, max: 10 * 366 * 24 * HOUR }),
    initial: durationText(7 * 24 * HOUR),
    value: 'time',
    description: 'How long results are kept. An id is remembered as long, or as its task asks.',
  },
  keepFailed: {
    kind: duration({ min: MINUTE, max: 10 * 366 * 24 * HOUR }),
    initial: durationText(30 * 24 * HOUR),
    value: 'time',
    description: 'The same for what FAILED or EXPIRED; never shorter than the rest.',
  },
  maxResultBytes: {
    kind: bytes({ min: MiB, max: 1_024 * 1_024 * GiB }),
    initial: bytesText(GiB),
    value: 'size',
    description: 'What all results may take: beyond it the oldest go before their time.',
  },
  maxStreams: {
    kind: count({ min: 1, max: 100_000 }),
    initial: '1000',
    value: 'count',
    description: 'Open StreamResults calls.',
  },
  keepalive: {
    kind: duration({ min: SECOND, max: HOUR }),
    initial: durationText(30 * SECOND),
    value: 'time',
    description:
      'How often a connection is asked whether its peer is still there. No answer within a third of it (at least 1s): closed.',
  },
  drainLimit: {
    kind: duration({ min: 0, max: 24 * HOUR }),
    initial: durationText(30 * SECOND),
    value: 'time',
    description:
      'At a stop (SIGTERM, SIGINT): how long running attempts may go on. A second signal stops at once.',
  },
  watchdogInterval: {
    kind: duration({ min: 0, max: MINUTE }),
    initial: durationText(SECOND),
    value: 'time',
    description: 'How often the server looks at itself: see docs/operations.md. 0 = never.',
  },
  stallLimit: {
    kind: duration({ min: SECOND, max: HOUR }),
    initial: durationText(10 * SECOND),
    value: 'time',
    description:
      'When the store does not answer, or nothing starts although it could, for this long, health is NOT_SERVING.',
  },
  metrics: {
    kind: address,
    value: 'host:port',
    description:
      'Serves Prometheus metrics at /metrics there. Default: not at all. OTLP is set by OTEL_* variables.',
  },
  logLevel: {
    kind: choice(['debug', 'info', 'warn', 'error', 'silent']),
    initial: 'info',
    value: 'level',
    description: 'The least that is written to stderr, as JSON lines.',
  },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof SETTINGS

/** Where `--config` itself comes from; it stands in no file. */
export const CONFIG_FILE = {
  flag: 'config',
  env: 'PUNCTUAL_CONFIG',
  description: 'TOML file of settings, each by its name with underscores: max_streams = 50.',
} as const

type Read<S> = S extends { readonly kind: z.ZodType<infer T> } ? T : never
type Given<Name extends SettingName> = (typeof SETTINGS)[Name] extends { readonly initial: string }
  ? never
  : undefined

/** Every setting, read and checked. */
export type Settings = { readonly [Name in SettingName]: Read<(typeof SETTINGS)[Name]> | Given<Name> }

export const flagOf = (name: string): string => name.replace(/[A-Z]/g, (it) => `-${it.toLowerCase()}`)
export const keyOf = (name: string): string => flagOf(name).replaceAll('-', '_')
export const variableOf = (name: string): string => `PUNCTUAL_${keyOf(name).toUpperCase()}`
