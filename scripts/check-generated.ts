/** `npm run check:generated`: fails, naming the files, unless proto/generated is what the .proto files give today. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GENERATED, generateProtos } from './generate-protos.js'

const fresh = mkdtempSync(join(tmpdir(), 'punctual-generated-'))
try {
  generateProtos(fresh)
  const stale = differences(GENERATED, join(fresh, GENERATED))
  if (stale.length > 0) {
    console.error(`proto/generated is stale: run \`npm run generate\` and commit it.\n${stale.join('\n')}`)
    process.exitCode = 1
  }
} finally {
  rmSync(fresh, { recursive: true, force: true })
}

/** One line per file that is missing, left over or different in `actual`. */
function differences(actual: string, expected: string): string[] {
  const [have, want] = [filesIn(actual), filesIn(expected)]
  return [
    ...want.filter((file) => !have.includes(file)).map((file) => `  missing    ${file}`),
    ...have.filter((file) => !want.includes(file)).map((file) => `  left over  ${file}`),
    ...want
      .filter((file) => have.includes(file))
      .filter((file) => !readFileSync(join(actual, file)).equals(readFileSync(join(expected, file))))
      .map((file) => `  different  ${file}`),
  ]
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => statSync(join(folder, name)).isFile()).toSorted()
}
