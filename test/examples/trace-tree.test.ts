import { describe, expect, it } from 'vitest'
import { type Span, traceTree } from '../../examples/demo/trace-tree.js'

const span = (spanId: string, parentSpanId: string | undefined, startMs: number, endMs: number): Span => ({
  traceId: 't',
  spanId,
  ...(parentSpanId !== undefined && { parentSpanId }),
  name: spanId,
  service: 'demo',
  startMs: 1_000 + startMs,
  endMs: 1_000 + endMs,
  failed: spanId === 'attempt',
})

describe('the tree of a trace', () => {
  it('shows children below their parent, in the order of their start', () => {
    const spans = [
      span('handler', 'attempt', 51, 60),
      span('attempt', 'call', 50, 61),
      span('wait', 'call', 2.5, 50),
      span('call', undefined, 0, 2),
    ]
    expect(traceTree(spans)).toEqual([
      'call           demo  at      0.0 ms  took      2.0 ms',
      '├─ wait        demo  at      2.5 ms  took     47.5 ms',
      '└─ attempt     demo  at     50.0 ms  took     11.0 ms  failed',
      '   └─ handler  demo  at     51.0 ms  took      9.0 ms',
    ])
  })

  it('shows a span whose parent nobody reported as a root', () => {
    const lines = traceTree([span('call', undefined, 0, 2), span('stray', 'lost', 1, 2)])
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['call', 'stray'])
  })

  it('is empty without spans', () => {
    expect(traceTree([])).toEqual([])
  })
})
