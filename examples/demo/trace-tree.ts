/** A span, whoever reported it. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  /** Absent: a root. */
  readonly parentSpanId?: string
  readonly name: string
  /** Who reported it, such as `demo` or `punctual`. */
  readonly service: string
  /** Milliseconds since 1970, with fractions. */
  readonly startMs: number
  readonly endMs: number
  readonly failed: boolean
}

/**
 * One trace as a tree, a line for each span: what it is, who reported it, when it began (from the start of the trace) and how long it took.
 * Children stand in the order of their start; a span whose parent nobody reported is shown as a root.
 */
export function traceTree(spans: readonly Span[]): string[] {
  const inOrder = spans.toSorted((a, b) => a.startMs - b.startMs)
  const known = new Set(inOrder.map((span) => span.spanId))
  const parentOf = (span: Span): string | undefined =>
    span.parentSpanId !== undefined && known.has(span.parentSpanId) ? span.parentSpanId : undefined
  const under = (parent: string | undefined): Span[] => inOrder.filter((span) => parentOf(span) === parent)
  const rows: { label: string; span: Span }[] = []

  const add = (span: Span, indent: string, branch: string, below: string): void => {
    rows.push({ label: `${indent}${branch}${span.name}`, span })
    const children = under(span.spanId)
    for (const [n, child] of children.entries()) {
      const isLast = n === children.length - 1
      add(child, indent + below, isLast ? '└─ ' : '├─ ', isLast ? '   ' : '│  ')
    }
  }
  for (const root of under(undefined)) add(root, '', '', '')

  const start = inOrder[0]?.startMs ?? 0
  const width = Math.max(...rows.map((row) => row.label.length))
  const serviceWidth = Math.max(...rows.map((row) => row.span.service.length))
  return rows.map(({ label, span }) =>
    [
      label.padEnd(width),
      span.service.padEnd(serviceWidth),
      `at ${milliseconds(span.startMs - start)}`,
      `took ${milliseconds(span.endMs - span.startMs)}`,
      ...(span.failed ? ['failed'] : []),
    ].join('  '),
  )
}

function milliseconds(value: number): string {
  return `${value.toFixed(1).padStart(8)} ms`
}
