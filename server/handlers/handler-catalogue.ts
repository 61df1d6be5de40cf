import type { Violation } from '../task/errors.js'
import { nearestName } from '../task/nearest-name.js'
import type { HandlerCatalogue, HandlerInfo } from './catalogue.js'
import type { Handler } from './define-handler.js'
import { jsonSchemaOf } from './json-schema.js'
import type { LoadedHandlers } from './load-handlers.js'
import { payloadValue } from './payload-value.js'
import { askSchema, type SchemaAnswer } from './schema-check.js'

/** What is wrong with an input, for callers. */
const FIELD = 'task.input'

/**
 * The catalogue of loaded handlers.
 *
 * @example const catalogue = createCatalogue(await loadHandlers(['./handlers.js']))
 */
export function createCatalogue(handlers: LoadedHandlers): HandlerCatalogue {
  const infos = new Map([...handlers.values()].map((handler) => [handler.name, infoOf(handler)]))
  const sorted = Object.freeze([...infos.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)))
  return {
    get: (name) => infos.get(name),
    list: () => sorted,
    checkInput(name, payload) {
      const handler = handlers.get(name)
      if (handler === undefined) return [unknownHandler(name, handlers.keys())]
      if (handler.input === undefined) return []
      const read = payloadValue(payload)
      if ('fault' in read) return [{ field: FIELD, description: read.fault }]
      const answer = askSchema(handler.input, read.value)
      return answer instanceof Promise ? answer.then(violationsOf) : violationsOf(answer)
    },
  }
}

function infoOf(handler: Handler): HandlerInfo {
  const { name, description, lane, maxConcurrent, memoryLimitMb, input, output } = handler
  const inputSchema = jsonSchemaOf(input, 'input')
  const outputSchema = jsonSchemaOf(output, 'output')
  return Object.freeze({
    name,
    description,
    lane,
    maxConcurrent,
    ...(memoryLimitMb === undefined ? {} : { memoryLimitMb }),
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
  })
}

function violationsOf(answer: SchemaAnswer): readonly Violation[] {
  if ('value' in answer) return []
  return answer.faults.map(({ path, message }) => ({ field: `${FIELD}${path}`, description: message }))
}

function unknownHandler(name: string, names: Iterable<string>): Violation {
  const near = nearestName(name, names)
  const shown = JSON.stringify(name.length > 140 ? `${name.slice(0, 140)}…` : name)
  return {
    field: 'task.handler',
    description: `this server has no handler ${shown}${near === undefined ? '; see ListHandlers' : `; did you mean '${near}'?`}`,
  }
}
