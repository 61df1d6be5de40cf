/**
 * The house as data: which room may import which, and what only one room may touch.
 *
 * A place is a path without its ending: a room (`server/task`) or one file in it (`server/store/task-store`); it
 * stands for itself and everything below it. A room may always import itself.
 */
export interface RoomRules {
  /** Places that the room may import. */
  readonly imports: readonly string[]
  /** Places of which the room may import types only. */
  readonly types?: readonly string[]
  /** Packages that the room may import, `node:` for Node's own modules; any when left out. */
  readonly packages?: readonly string[]
}

/** The interfaces through which storage and execution enter the house. */
const PORTS = ['server/store/task-store', 'server/executor/executor']
const STORE_PORT = 'server/store/task-store'

const TASK = 'server/task'
const CLOCK = 'server/clock'
const HANDLERS = 'server/handlers'
const SCHEDULER = 'server/scheduler'
const CONFIG = 'server/config'
const GENERATED = 'proto/generated'
const BESIDE_THE_SCHEDULER: RoomRules = { imports: [TASK, CLOCK, ...PORTS, SCHEDULER] }
const ANYTHING: RoomRules = {
  // 'dist': what runs the built package runs it as built
  imports: [
    'server',
    'client',
    'cli',
    'testing',
    'test',
    'bench',
    'chaos',
    'examples',
    'scripts',
    'dist',
    GENERATED,
  ],
}

/** Every room there is; a file elsewhere is a violation, so that a new room is a decision. */
export const ROOMS: Readonly<Record<string, RoomRules>> = {
  'server/task': { imports: [], packages: [] },
  'server/config': { imports: [] },
  'server/clock': { imports: [TASK] },
  'server/handlers': { imports: [TASK] },
  'server/store': { imports: [TASK] },
  'server/executor': { imports: [TASK, CLOCK, HANDLERS] },
  'server/scheduler': { imports: [TASK, CLOCK, ...PORTS] },
  'server/results': { imports: [TASK, CLOCK, STORE_PORT] },
  'server/admission': { imports: [TASK, CLOCK, HANDLERS, STORE_PORT, SCHEDULER] },
  'server/stats': BESIDE_THE_SCHEDULER,
  'server/maintenance': BESIDE_THE_SCHEDULER,
  'server/watchdog': BESIDE_THE_SCHEDULER,
  'server/telemetry': BESIDE_THE_SCHEDULER,
  'server/rpc': {
    imports: [
      TASK,
      CLOCK,
      HANDLERS,
      'server/admission',
      'server/results',
      'server/stats',
      STORE_PORT,
      GENERATED,
    ],
  },
  'server/compose': { imports: ['server'] },
  'server/main': { imports: ['server/compose', CONFIG, CLOCK, TASK] },
  // a caller's program gets no server code: of the handlers, only their types
  client: {
    imports: [GENERATED],
    types: [HANDLERS],
    packages: [
      'node:',
      '@grpc/grpc-js',
      '@opentelemetry/api',
      '@bufbuild/protobuf',
      '@standard-schema/spec',
      'uuid',
    ],
  },
  cli: { imports: ['client', 'server/main', 'server/compose/store-files', TASK, 'server/maintenance'] },
  // the kit stands in for the clock and the executor, so it knows what those promise, and runs handlers by the same steps
  testing: {
    imports: [
      'server/compose',
      CONFIG,
      TASK,
      CLOCK,
      HANDLERS,
      ...PORTS,
      'server/executor/run-attempt',
      'client',
    ],
  },
  'proto/generated': { imports: [] },
  test: ANYTHING,
  bench: ANYTHING,
  chaos: ANYTHING,
  // what a user of the package could write: by its name, never by a path into it
  examples: { imports: [] },
  // captures of the docs are taken by the client itself
  scripts: { imports: ['client'] },
}

/** Something of the platform or of a package that only some places may touch. */
export interface Reserved {
  /** What it is called in a message. */
  readonly what: string
  /** Where the rule holds; elsewhere nobody minds. */
  readonly within: readonly string[]
  /** The only places within that may. */
  readonly only: readonly string[]
  /** Why, and what to do instead. */
  readonly instead: string
  /** Global names, with the member where it matters: `process.env`; `new Date` means the one without arguments. */
  readonly globals?: readonly string[]
  /** Packages, by name; `name#export` for one export of it. */
  readonly packages?: readonly string[]
}

const SHIPPED = ['server', 'client', 'cli', 'testing']

export const RESERVED: readonly Reserved[] = [
  {
    what: 'timers',
    within: ['server'],
    only: [CLOCK],
    instead: 'take a Clock, so that a virtual one can drive the tests',
    globals: ['setTimeout', 'setInterval', 'AbortSignal.timeout'],
    packages: ['node:timers', 'node:timers/promises', 'timers', 'timers/promises'],
  },
  {
    what: 'the time',
    within: ['server'],
    only: [CLOCK],
    instead: 'be told the time or ask a Clock',
    globals: ['Date.now', 'new Date', 'performance.now', 'process.hrtime'],
    packages: ['node:perf_hooks#performance'],
  },
  {
    what: 'timers',
    within: ['test'],
    only: ['test/outside'],
    instead: 'drive the virtual clock, or move what needs real time to test/outside',
    globals: ['setTimeout', 'setInterval', 'AbortSignal.timeout'],
    packages: ['node:timers', 'node:timers/promises', 'timers', 'timers/promises'],
  },
  {
    what: 'the environment',
    within: SHIPPED,
    only: [CONFIG],
    instead: 'make it a setting of server/config',
    globals: ['process.env'],
    packages: ['node:process#env'],
  },
  {
    what: 'gRPC codes',
    within: SHIPPED,
    // a span names the code that a call ended with
    only: ['server/rpc/status', 'server/rpc/server-tracing', 'client/errors'],
    instead: 'throw an error of server/task, translated at the one edge',
    packages: ['@grpc/grpc-js#status'],
  },
  {
    what: 'gRPC',
    within: SHIPPED,
    only: ['server/rpc', 'client'],
    instead: 'leave the wire to the edge',
    packages: ['@grpc/grpc-js', '@grpc/reflection', 'grpc-health-check'],
  },
  {
    what: 'worker pools',
    within: SHIPPED,
    only: ['server/executor'],
    instead: 'use the executor port',
    packages: ['piscina'],
  },
  {
    what: 'SQLite',
    within: SHIPPED,
    only: ['server/store'],
    instead: 'use the store port',
    packages: ['@photostructure/sqlite', 'node:sqlite', 'better-sqlite3'],
  },
  {
    what: 'the OpenTelemetry SDK',
    within: SHIPPED,
    // a worker thread has a provider of its own
    only: ['server/telemetry', 'server/executor'],
    instead: 'use @opentelemetry/api',
    packages: [
      '@opentelemetry/sdk-node',
      '@opentelemetry/sdk-trace-base',
      '@opentelemetry/sdk-metrics',
      '@opentelemetry/exporter-prometheus',
    ],
  },
]

/** A file that grows beyond this holds more than one concept. */
export const MAX_LINES = 300

/** Names that hide what a file is about. */
export const VAGUE_NAMES = ['util', 'utils', 'manager', 'common', 'helper', 'helpers', 'misc']
