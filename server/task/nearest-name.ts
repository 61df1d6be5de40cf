/**
 * The name that a mistyped one was probably meant to be, for a "did you mean …"; undefined when none is near.
 *
 * @example nearestName('fibonaci', ['echo', 'fibonacci']) // 'fibonacci'
 */
export function nearestName(typed: string, names: Iterable<string>): string | undefined {
  const wanted = typed.toLowerCase()
  let best: string | undefined
  // A quarter of the letters may be wrong: more would be guessing.
  let bestDistance = Math.floor(Math.min(wanted.length, 64) / 4) + 1
  for (const name of names) {
    if (Math.abs(name.length - wanted.length) >= bestDistance) continue
    const distance = editDistance(wanted, name.toLowerCase(), bestDistance)
    if (distance < bestDistance) {
      best = name
      bestDistance = distance
    }
  }
  return best
}

/** Letters to change, add, remove or swap with their neighbour; any number ≥ `limit` when it is at least that. */
function editDistance(a: string, b: string, limit: number): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let smallest = i
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min((last[j - 1] ?? 0) + (same ? 0 : 1), (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1)
      if (!same && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1)
      row.push(cost)
      smallest = Math.min(smallest, cost)
    }
    if (smallest >= limit) return limit
    beforeLast = last
    last = row
  }
  return last[b.length] ?? limit
}
