import {
  CONFIG_FILE,
  flagOf,
  keyOf,
  type Setting,
  type SettingName,
  SETTINGS,
  variableOf,
} from './settings.js'

/** What a command line needs to know of a setting. */
export interface SettingHelp {
  /** As in Settings; `config` for the file. */
  readonly name: string
  /** `--tls-cert <file>` */
  readonly flags: string
  readonly description: string
  readonly env: string
  /** As it would be written; absent = none. */
  readonly initial?: string
}

/** Every setting, in the order of the table. */
export function settingsHelp(): readonly SettingHelp[] {
  const file: SettingHelp = {
    name: CONFIG_FILE.flag,
    flags: `--${CONFIG_FILE.flag} <file>`,
    description: CONFIG_FILE.description,
    env: CONFIG_FILE.env,
  }
  return [file, ...(Object.keys(SETTINGS) as SettingName[]).map(helpOf)]
}

function helpOf(name: SettingName): SettingHelp {
  const { value, description, initial }: Setting = SETTINGS[name]
  return {
    name,
    flags: value === undefined ? `--${flagOf(name)}` : `--${flagOf(name)} <${value}>`,
    description,
    env: variableOf(name),
    ...(initial !== undefined && value !== undefined && { initial }),
  }
}

/** The page of the docs that lists all settings. */
export function settingsPage(): string {
  const rows = (Object.keys(SETTINGS) as SettingName[]).map((name) => {
    const { flags, env, description } = helpOf(name)
    const { initial = '' }: Setting = SETTINGS[name]
    // a default that hangs on the machine
    const shown = name === 'threads' ? 'cores' : initial
    return `| \`${flags}\` | \`${env}\` | \`${keyOf(name)}\` | ${shown} | ${description.replaceAll('|', '\\|')} |`
  })
  return `# Settings of \`punctual serve\`

A flag wins over the environment, that over the file of \`--config\` (or \`${CONFIG_FILE.env}\`), that over the default. The server checks all of them before it starts,
and names everything that is wrong at once.

| flag | environment | in the file (TOML) | default | what it does |
| --- | --- | --- | --- | --- |
${rows.join('\n')}
`
}
