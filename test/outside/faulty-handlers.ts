import { pbkdf2Sync } from 'node:crypto'
import { z } from 'zod'
import { defineHandler } from '../../server/handlers/index.js'

const globals = globalThis as { leftBehind?: unknown }

function fillMemory(): never {
  const kept: object[] = []
  for (;;) kept.push(Array.from({ length: 10_000 }, (_, index) => ({ index })))
}

function spin(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** What is thrown by `throw`, by name. */
const THROWN: Readonly<Record<string, () => unknown>> = {
  text: () => 'boom',
  undefined: () => undefined,
  null: () => null,
  number: () => 42,
  object: () => ({ a: 1, f() {} }),
  circular() {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    return circle
  },
  unreadable: () =>
    new Proxy(
      {},
      {
        get() {
          throw new Error('not even this')
        },
      },
    ),
}

/** Handlers that misbehave, each in its own way. */
export const handlers = [
  defineHandler({ name: 'good', run: (input) => input }),
  defineHandler({ name: 'wait', input: z.number(), run: (ms, context) => context.sleep(ms) }),
  defineHandler({ name: 'exit', input: z.number(), run: (code) => process.exit(code) }),
  defineHandler({
    name: 'exit-later',
    input: z.number(),
    run: (code) => void setTimeout(() => process.exit(code), 150),
  }),
  defineHandler({ name: 'modest', memoryLimitMb: 32, run: (input) => input }),
  defineHandler({ name: 'fill-memory', memoryLimitMb: 32, run: fillMemory }),
  defineHandler({
    name: 'loop',
    run() {
      for (;;);
    },
  }),
  defineHandler({ name: 'spin', input: z.number(), run: spin }),
  defineHandler({
    name: 'deep',
    input: z.number(),
    run(levels) {
      let value: unknown = 1
      for (let level = 0; level < levels; level++) value = [value]
      return value
    },
  }),
  /** Never ends and never listens. */
  defineHandler({ name: 'deaf', run: () => new Promise<void>(() => {}) }),
  /** Computes without a pause, but asks whether it shall stop. */
  defineHandler({
    name: 'polite-loop',
    run(_, context) {
      while (!context.signal.aborted) spin(1)
    },
  }),
  /** A second or two in one native call, which nobody can interrupt. */
  defineHandler({
    name: 'native',
    input: z.number(),
    run: (rounds) => void pbkdf2Sync('secret', 'salt', rounds, 64, 'sha512'),
  }),
  defineHandler({
    name: 'throw',
    input: z.string(),
    run(what) {
      throw THROWN[what]?.()
    },
  }),
  defineHandler({
    name: 'leave-timer',
    run() {
      setTimeout(() => {
        throw new Error('a stray timer')
      }, 20)
    },
  }),
  defineHandler({
    name: 'leave-rejection',
    run: () => void Promise.reject(new Error('a stray rejection')),
  }),
  /** Its own timer throws while it is waited for. */
  defineHandler({
    name: 'own-timer',
    run: () =>
      new Promise<void>(() => {
        setTimeout(() => {
          throw new TypeError('from its own timer')
        }, 10)
      }),
  }),
  defineHandler({
    name: 'remember',
    run(input) {
      const before = globals.leftBehind
      globals.leftBehind = input
      return before
    },
  }),
  defineHandler({ name: 'environment', run: () => ({ ...process.env }) }),
  defineHandler({
    name: 'print',
    run(_, context) {
      console.log('printed %d', 1)
      console.error('to stderr\u001b[2J\nforged')
      context.logger.warn('logged', { count: 2, nested: { big: 10n }, bad: Symbol('s') })
    },
  }),
  defineHandler({
    name: 'flood',
    run() {
      for (let line = 0; line < 100_000; line++) console.log('x'.repeat(10_000))
    },
  }),
  defineHandler({ name: 'share-good', lane: 'shared', run: (input) => input }),
  defineHandler({
    name: 'share-wait',
    lane: 'shared',
    input: z.number(),
    run: (ms, context) => context.sleep(ms),
  }),
  /** Waits that long, whatever anybody says. */
  defineHandler({
    name: 'share-deaf',
    lane: 'shared',
    input: z.number(),
    run: (ms) => new Promise<void>((resolve) => void setTimeout(resolve, ms)),
  }),
  defineHandler({
    name: 'share-exit',
    lane: 'shared',
    async run(_, context) {
      await context.sleep(10)
      process.exit(3)
    },
  }),
  defineHandler({
    name: 'share-loop',
    lane: 'shared',
    run() {
      for (;;);
    },
  }),
  defineHandler({
    name: 'share-loop-later',
    lane: 'shared',
    async run(_, context) {
      await context.sleep(10)
      for (;;);
    },
  }),
  defineHandler({ name: 'share-fill-memory', lane: 'shared', run: fillMemory }),
  defineHandler({
    name: 'share-own-timer',
    lane: 'shared',
    run: () =>
      new Promise<void>(() => {
        setTimeout(() => {
          throw new TypeError('from its own timer')
        }, 10)
      }),
  }),
] as const
