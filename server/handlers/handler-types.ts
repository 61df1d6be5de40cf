import type { Handler } from './define-handler.js'

/** Handlers as a module exports them: a list, or a record (whose keys are for the author alone: tasks use the handlers' own names). */
export type HandlerSet = readonly Handler[] | Readonly<Record<string, Handler>>

type Member<Handlers extends HandlerSet> = Handlers extends readonly (infer One)[]
  ? One
  : Handlers[keyof Handlers]
type Named<Handlers extends HandlerSet, Name> = Extract<Member<Handlers>, { readonly name: Name }>
type TypesOf<One> = One extends Handler<string, infer Types> ? Types : never

/** The names of a set of handlers. */
export type HandlerName<Handlers extends HandlerSet> = Extract<Member<Handlers>, Handler>['name']
/** What a caller sends to the handler of that name. */
export type HandlerInput<Handlers extends HandlerSet, Name extends HandlerName<Handlers>> = TypesOf<
  Named<Handlers, Name>
>['sent']
/** What a caller gets back from the handler of that name. */
export type HandlerOutput<Handlers extends HandlerSet, Name extends HandlerName<Handlers>> = TypesOf<
  Named<Handlers, Name>
>['output']
