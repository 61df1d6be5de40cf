import { trace } from '@opentelemetry/api'
import { defineHandler } from '../../../server/handlers/index.js'

export const handlers = [
  /** Traces one piece of work, and adds to its attempt's span, in no time at all. */
  defineHandler({
    name: 'quick',
    run(input, { span }) {
      trace.getTracer('handlers').startSpan('look up').end()
      span.setAttribute('input', Number(input))
    },
  }),
  defineHandler({
    name: 'shared',
    lane: 'shared',
    async run(input, context) {
      await context.sleep(5)
      trace.getTracer('handlers').startSpan('look up').end()
      context.span.setAttribute('input', Number(input))
    },
  }),
  /** Ends one span, opens another, and never returns. */
  defineHandler({
    name: 'stuck',
    run(_input, { span }) {
      span.setAttribute('lost', true)
      const tracer = trace.getTracer('handlers')
      tracer.startSpan('look up').end()
      tracer.startSpan('for ever')
      for (;;) span.isRecording()
    },
  }),
  defineHandler({
    name: 'exits',
    run() {
      trace.getTracer('handlers').startSpan('look up').end()
      process.exit(3)
    },
  }),
]
