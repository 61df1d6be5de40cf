/** What authors of handlers import: `import { defineHandler } from 'punctual/handlers'`. */
export {
  defineHandler,
  type Handler,
  type HandlerDefinition,
  type HandlerLane,
  type HandlerTypes,
} from './define-handler.js'
export type { HandlerContext } from './handler-context.js'
export type { HandlerInput, HandlerName, HandlerOutput, HandlerSet } from './handler-types.js'
export { TaskError, type TaskErrorOptions } from './task-error.js'
