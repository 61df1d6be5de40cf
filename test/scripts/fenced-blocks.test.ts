import { describe, expect, it } from 'vitest'
import { fencedBlocks } from '../../scripts/fenced-blocks.js'

const PAGE = `# Title

<!-- check: run shows="value: 55" limit=10s -->
\`\`\`sh
echo 'value: 55'
cat <<END
END
\`\`\`

<!-- check: run -->
Text between a mark and a block parts them.
\`\`\`sh title
ls
\`\`\`

\`\`\`
plain
\`\`\`
`

describe('the fenced blocks of a page', () => {
  const [first, second, third] = fencedBlocks(PAGE)

  it('have their text, language and line', () => {
    expect(first).toMatchObject({ line: 4, language: 'sh', text: "echo 'value: 55'\ncat <<END\nEND\n" })
    expect(second).toMatchObject({ line: 12, language: 'sh', text: 'ls\n' })
    expect(third).toMatchObject({ line: 16, language: '', text: 'plain\n' })
  })

  it('have what the mark right before them says', () => {
    expect([...(first?.check ?? [])]).toEqual([
      ['run', ''],
      ['shows', 'value: 55'],
      ['limit', '10s'],
    ])
    expect(second).not.toHaveProperty('check')
  })

  it('must be closed', () => {
    expect(() => fencedBlocks('\n```sh\nls\n')).toThrow('line 2: the fence is never closed')
  })
})
