const ZERO = 48

/** Writes `value` (a whole number, 0 or more) as `width` decimal digits: what a set statement takes apart with `substr` and CAST. */
export function writeDigits(into: Buffer, at: number, width: number, value: number): void {
  let rest = value
  for (let i = at + width - 1; i >= at; i--) {
    const next = Math.floor(rest / 10)
    into[i] = ZERO + rest - next * 10
    rest = next
  }
  if (rest !== 0) throw new RangeError(`${value} does not fit into ${width} digits`)
}

/** SQL that reads digits back: from the blob parameter `blob`, row number `row` of `rowWidth`, at `offset`. */
export const digits = (blob: string, row: string, rowWidth: number, offset: number, width: number): string =>
  `CAST(substr(${blob}, ${offset + 1} + ${row} * ${rowWidth}, ${width}) AS INTEGER)`
