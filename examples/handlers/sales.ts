/** One sale. Money is whole cents: sums of fractions drift. */
export interface Sale {
  readonly day: number
  readonly product: string
  readonly quantity: number
  readonly unitCents: number
}

const PRODUCTS = [
  ['anvil', 8_900],
  ['bellows', 4_250],
  ['crucible', 12_700],
  ['file', 990],
  ['hammer', 2_490],
  ['tongs', 1_875],
] as const

/** Stands for the database of a shop: `count` sales of a month, the same ones each time. */
export function* salesOf(month: string, count: number): Generator<Sale> {
  let state = Buffer.from(month).reduce((hash, byte) => (hash * 31 + byte) >>> 0, 7)
  for (let n = 0; n < count; n++) {
    // a linear congruential generator (Numerical Recipes): plain, and the same everywhere
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const [product, unitCents] = PRODUCTS[state % PRODUCTS.length] ?? PRODUCTS[0]
    yield { day: 1 + ((state >>> 8) % 28), product, quantity: 1 + ((state >>> 16) % 9), unitCents }
  }
}
