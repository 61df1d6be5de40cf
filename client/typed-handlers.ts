import type {
  Handler,
  HandlerInput,
  HandlerName,
  HandlerOutput,
  HandlerSet,
} from '../server/handlers/index.js'
import type { TaskOptions } from './schedule-options.js'
import type { TaskResult } from './task-result.js'

/** What a client knows when it is not told more: any name, any input, unknown outputs. */
export type AnyHandlers = readonly Handler[]

type Names<Handlers extends HandlerSet> = HandlerName<Handlers>

/** What a caller sends to the handler of that name; anything, when the names are not known. */
export type InputOf<Handlers extends HandlerSet, Name extends Names<Handlers>> =
  string extends Names<Handlers> ? unknown : HandlerInput<Handlers, Name>

/** What a caller gets back from the handler of that name. */
export type OutputOf<Handlers extends HandlerSet, Name extends Names<Handlers>> =
  string extends Names<Handlers> ? unknown : HandlerOutput<Handlers, Name>

/** What comes after the handler's name: an input that the handler can do without may be left out. */
export type ScheduleArguments<Input, Options> = undefined extends Input
  ? [input?: Input, options?: Options]
  : [input: Input, options?: Options]

/** One task of `client.scheduleMany()`. */
export type TaskRequest<Handlers extends HandlerSet, Name extends Names<Handlers> = Names<Handlers>> =
  Name extends Names<Handlers>
    ? TaskOptions & { readonly handler: Name } & (undefined extends InputOf<Handlers, Name>
          ? { readonly input?: InputOf<Handlers, Name> }
          : { readonly input: InputOf<Handlers, Name> })
    : never

/** Results of some handlers: `handler` tells them apart, so that `output` has its type. */
export type ResultOf<Handlers extends HandlerSet, Name extends Names<Handlers> = Names<Handlers>> = {
  [One in Name]: TaskResult<One, OutputOf<Handlers, One>>
}[Name]
