/** The part of `npm run build` that tsc does not do: what is read or run from dist besides JavaScript. */
import { chmodSync, cpSync, existsSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'

/** Files that the code reads at run time, by ending: descriptor sets and migrations. */
const ASSET_ENDINGS = new Set(['.binpb', '.sql'])
const ASSET_FOLDERS = ['proto/generated', 'server', 'cli', 'testing']
const COMMAND = 'dist/cli/main.js'

for (const folder of ASSET_FOLDERS.filter((name) => existsSync(name))) {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (ASSET_ENDINGS.has(extname(name))) cpSync(join(folder, name), join('dist', folder, name))
  }
}

// npm does this where it installs the package, but not in the project's own folder, where `npx punctual` needs it
if (existsSync(COMMAND)) chmodSync(COMMAND, 0o755)
