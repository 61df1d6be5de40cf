import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { HandlerContext } from './handler-context.js'
import { checkDefinition } from './handler-rules.js'

/** `thread`: one attempt a thread at a time, can be stopped by force. `shared`: many waiting attempts in one thread, can only be asked to stop. */
export type HandlerLane = 'thread' | 'shared'

/** The types that travel with a handler. Nothing of it exists at run time. */
export interface HandlerTypes {
  /** What a caller sends. */
  readonly sent: unknown
  /** What `run` gets: the sent value after its schema, which may fill in defaults or convert. */
  readonly received: unknown
  /** What `run` returns. */
  readonly returned: unknown
  /** What a caller gets back. */
  readonly output: unknown
}

/** A unit of work that tasks name. Made by {@link defineHandler}. */
export interface Handler<Name extends string = string, Types extends HandlerTypes = HandlerTypes> {
  readonly name: Name
  readonly description: string
  readonly lane: HandlerLane
  readonly maxConcurrent: number
  readonly memoryLimitMb?: number
  readonly input?: StandardSchemaV1
  readonly output?: StandardSchemaV1
  /** For the compiler only; never set. */
  readonly types?: Types
  run(input: Types['received'], context: HandlerContext): Types['returned'] | Promise<Types['returned']>
}

type Sent<Input> = Input extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Input> : unknown
type Received<Input> = Input extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Input> : unknown
type Returnable<Output> = Output extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Output> : unknown

export interface TypesFor<Input, Output, Returned> extends HandlerTypes {
  readonly sent: Sent<Input>
  readonly received: Received<Input>
  readonly returned: Returned
  readonly output: Output extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Output> : Returned
}

/** What {@link defineHandler} takes. */
export interface HandlerDefinition<
  Name extends string,
  Input extends StandardSchemaV1 | undefined,
  Output extends StandardSchemaV1 | undefined,
  Returned,
> {
  /** What tasks call it: 1 to 128 characters of A-Z a-z 0-9 . _ : / -, starting with a letter. */
  readonly name: Name
  /** For people, in ListHandlers. */
  readonly description?: string
  /** Schema of the input, of any library that speaks Standard Schema (zod, valibot, arktype, ...). Checked when a task is scheduled, and again when it runs. Unset: any input. */
  readonly input?: Input
  /** Schema of the output, checked when `run` has returned. Unset: any output that can be stored. */
  readonly output?: Output
  /** Default `thread`. Choose `shared` for handlers that mostly wait, such as for HTTP answers. */
  readonly lane?: HandlerLane
  /** Attempts of this handler at once; default 0 = as many as the lane has slots. */
  readonly maxConcurrent?: number
  /** Heap of a thread that runs it, in MiB, at least 16; default: the server's setting. Lane `thread` only: a shared thread has one heap for all. */
  readonly memoryLimitMb?: number
  /**
   * Does the work. What it returns is stored: JSON values, a Uint8Array for bytes, nothing for no output. What it throws fails the attempt, see TaskError.
   * Threads are reused: what it leaves in module or global variables is there for the next attempt.
   */
  run(input: Received<Input>, context: HandlerContext): Returned
}

/**
 * Defines a handler. Names, inputs and outputs stay typed up to `createClient<typeof handlers>()`.
 *
 * @throws TypeError that says which part of the definition is wrong, and what would be right.
 * @example
 * export const handlers = [
 *   defineHandler({
 *     name: 'fibonacci',
 *     input: z.object({ n: z.int().min(0).max(40) }),
 *     run: ({ n }) => ({ value: fibonacci(n) }),
 *   }),
 * ]
 */
export function defineHandler<
  const Name extends string,
  Returned extends Returnable<Output> | Promise<Returnable<Output>>,
  Input extends StandardSchemaV1 | undefined = undefined,
  Output extends StandardSchemaV1 | undefined = undefined,
>(
  definition: HandlerDefinition<Name, Input, Output, Returned>,
): Handler<Name, TypesFor<Input, Output, Awaited<Returned>>> {
  checkDefinition(definition)
  const { name, description = '', lane = 'thread', maxConcurrent = 0, memoryLimitMb } = definition
  const { input, output }: { input?: StandardSchemaV1 | undefined; output?: StandardSchemaV1 | undefined } =
    definition
  const handler = Object.freeze({
    name,
    description,
    lane,
    maxConcurrent,
    ...(memoryLimitMb === undefined ? {} : { memoryLimitMb }),
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    run: (received: Received<Input>, context: HandlerContext) =>
      definition.run(received, context) as Awaited<Returned> | Promise<Awaited<Returned>>,
  })
  defined.add(handler)
  return handler
}

const defined = new WeakSet<object>()

/** @returns whether {@link defineHandler} made it, and so has checked it. */
export function isDefined(candidate: unknown): candidate is Handler {
  return typeof candidate === 'object' && candidate !== null && defined.has(candidate)
}
