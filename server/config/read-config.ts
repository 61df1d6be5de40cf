import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import {
  CONFIG_FILE,
  flagOf,
  keyOf,
  type Setting,
  type SettingName,
  SETTINGS,
  type Settings,
  variableOf,
} from './settings.js'
import { checkTogether } from './together.js'

/** Settings that cannot be used: one line for each thing that is wrong, with what would be right. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

export interface ConfigSources {
  /** Flags as they were typed, by the setting's name; `config` is the file. A switch is `true`. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string | undefined>>
}

export interface Config {
  readonly settings: Settings
  /** What of the environment handlers may see. */
  readonly handlerEnv: Readonly<Record<string, string>>
  /** `OTEL_*`, for telemetry. */
  readonly telemetryEnv: Readonly<Record<string, string>>
  /** Things that look like mistakes, for the log. */
  readonly warnings: readonly string[]
}

/** A value and where it stood, for messages. */
interface Found {
  readonly value: unknown
  readonly place: string
}

const NAMES = Object.keys(SETTINGS) as SettingName[]
/** Variables of the command line client. */
const OTHER_VARIABLES = new Set<string>([CONFIG_FILE.env, 'PUNCTUAL_ADDRESS'])

/**
 * Reads every setting: a flag wins over the environment, that over the file, that over the default.
 *
 * @throws ConfigError with everything that is wrong at once.
 * @example readConfig({ flags: { listen: '127.0.0.1:0' } }).settings.listen.port // 0
 */
export function readConfig({ flags, env = process.env }: ConfigSources): Config {
  const problems: string[] = []
  const file = readFile(flags[CONFIG_FILE.flag] ?? env[CONFIG_FILE.env], problems)
  const settings = Object.fromEntries(
    NAMES.map((name) => [name, check(name, find(name, flags, env, file), problems)]),
  ) as unknown as Settings
  if (problems.length === 0) problems.push(...checkTogether(settings))
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    settings: Object.freeze(settings),
    handlerEnv: pick(env, (name) => settings.handlerEnv?.includes(name) ?? false),
    telemetryEnv: pick(env, (name) => name.startsWith('OTEL_')),
    warnings: unknownVariables(env),
  }
}

function find(
  name: SettingName,
  flags: ConfigSources['flags'],
  env: NonNullable<ConfigSources['env']>,
  file: Readonly<Record<string, unknown>>,
): Found | undefined {
  const [flag, variable, key] = [flags[name], env[variableOf(name)], file[keyOf(name)]]
  if (flag !== undefined) return { value: flag, place: `--${flagOf(name)}` }
  if (variable !== undefined) return { value: variable, place: variableOf(name) }
  if (key !== undefined) return { value: key, place: `${keyOf(name)} in the file` }
  const { initial }: Setting = SETTINGS[name]
  return initial === undefined ? undefined : { value: initial, place: 'the default' }
}

function check(name: SettingName, found: Found | undefined, problems: string[]): unknown {
  if (!found) return undefined
  const read = SETTINGS[name].kind.safeParse(found.value)
  if (read.success) return read.data
  const why = read.error.issues[0]?.message ?? 'cannot be used'
  problems.push(`${found.place} ${why}; it is ${shown(found.value)}`)
  return undefined
}

function readFile(path: unknown, problems: string[]): Readonly<Record<string, unknown>> {
  if (typeof path !== 'string') return {}
  let values: Readonly<Record<string, unknown>>
  try {
    values = parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const why = (error as Error).message.trim()
    problems.push(`the file ${path} cannot be read as TOML: ${why}`)
    return {}
  }
  const known = new Set(NAMES.map(keyOf))
  const unknown = Object.keys(values).filter((key) => !known.has(key))
  for (const key of unknown) {
    problems.push(`the file ${path} has no setting ${shown(key)}; there are: ${[...known].join(', ')}`)
  }
  return values
}

function unknownVariables(env: NonNullable<ConfigSources['env']>): string[] {
  const known = new Set([...NAMES.map(variableOf), ...OTHER_VARIABLES])
  return Object.keys(env)
    .filter((name) => name.startsWith('PUNCTUAL_') && !known.has(name))
    .map((name) => `the environment variable ${name} is no setting: it has no effect`)
}

function pick(
  env: NonNullable<ConfigSources['env']>,
  wanted: (name: string) => boolean,
): Readonly<Record<string, string>> {
  const entries = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && wanted(entry[0]),
  )
  return Object.fromEntries(entries)
}

function shown(value: unknown): string {
  const written = JSON.stringify(value) ?? String(value)
  return written.length > 100 ? `${written.slice(0, 100)}…` : written
}
