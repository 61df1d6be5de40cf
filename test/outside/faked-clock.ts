import { readdirSync, writeFileSync } from 'node:fs'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const LIBRARIES = '/usr/lib'
const NAME = 'libfaketimeMT.so.1'

/** Where Debian's package `faketime` keeps its library. @throws when it is not installed: nothing here can be shown without it. */
function library(): string {
  const found = readdirSync(LIBRARIES)
    .map((folder) => join(LIBRARIES, folder, 'faketime'))
    .flatMap((folder) => {
      try {
        return readdirSync(folder).includes(NAME) ? [join(folder, NAME)] : []
      } catch {
        return []
      }
    })
  const [path] = found
  if (path === undefined) throw new Error(`${NAME} is not below ${LIBRARIES}: apt-get install faketime`)
  return path
}

/** A wall clock that a server process believes in, and that can be set while it runs. Its steady clock stays real. */
export class FakedClock implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'faked-clock-'))
  #offsetMs: number

  /** @param startsAt - What it reads now. */
  constructor(startsAt: number) {
    this.#offsetMs = startsAt - Date.now()
    this.#write()
  }

  /** For the process that is to believe in it. */
  get env(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: library(),
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
  }

  now(): number {
    return Date.now() + this.#offsetMs
  }

  /** Sets it forward or, when negative, back. */
  step(ms: number): void {
    this.#offsetMs += ms
    this.#write()
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  get #file(): string {
    return join(this.#folder, 'offset')
  }

  #write(): void {
    const sign = this.#offsetMs < 0 ? '-' : '+'
    writeFileSync(this.#file, `${sign}${(Math.abs(this.#offsetMs) / 1_000).toFixed(3)}\n`)
  }
}
