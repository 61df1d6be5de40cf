/** A fenced block of a Markdown page. */
export interface FencedBlock {
  /** Of its opening fence, from 1. */
  readonly line: number
  /** The first word after the fence. */
  readonly language: string
  readonly text: string
  /** What `<!-- check: ... -->` before it says; absent without one. A word alone has the value ''. */
  readonly check?: ReadonlyMap<string, string>
}

const CHECK = /^<!-- check: (.*) -->$/
const WORD = /([a-z]+)(?:=(?:"([^"]*)"|(\S+)))?/g

/** The fenced blocks of a page, in order. */
export function fencedBlocks(markdown: string): FencedBlock[] {
  const blocks: FencedBlock[] = []
  let open: { line: number; language: string; text: string[] } | undefined
  let check: ReadonlyMap<string, string> | undefined
  for (const [index, line] of markdown.split('\n').entries()) {
    if (open === undefined) {
      const fence = /^```(\S*)/.exec(line)
      if (fence !== null) open = { line: index + 1, language: fence[1] ?? '', text: [] }
      else if (line.trim() !== '') check = readCheck(line)
    } else if (line === '```') {
      const text = open.text.map((one) => `${one}\n`).join('')
      blocks.push({ ...open, text, ...(check && { check }) })
      open = undefined
      check = undefined
    } else {
      open.text.push(line)
    }
  }
  if (open !== undefined) throw new Error(`line ${open.line}: the fence is never closed`)
  return blocks
}

function readCheck(line: string): ReadonlyMap<string, string> | undefined {
  const words = CHECK.exec(line)?.[1]
  if (words === undefined) return undefined
  return new Map(
    [...words.matchAll(WORD)].map(([, word, quoted, bare]) => [word ?? '', quoted ?? bare ?? '']),
  )
}
