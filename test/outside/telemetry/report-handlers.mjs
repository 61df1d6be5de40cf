import { trace } from '@opentelemetry/api'
import { defineHandler, TaskError } from 'punctual/handlers'

// As an operator writes them: a module that knows OpenTelemetry's API and nothing of how the server traces.
export const handlers = [
  defineHandler({
    name: 'report',
    run: (input, { span }) =>
      trace.getTracer('reports').startActiveSpan('render pages', (rendering) => {
        span.setAttribute('pages', 3)
        rendering.end()
        return { pages: 3 }
      }),
  }),
  defineHandler({
    name: 'fails-once',
    run(input, { attempt, logger }) {
      logger.info('trying', { attempt })
      if (attempt === 1) throw new TaskError('the printer is offline', { code: 'PRINTER_OFFLINE' })
    },
  }),
]
