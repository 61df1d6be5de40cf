import { fibonacci } from './fibonacci.js'
import { reportBuild } from './report-build.js'
import { webhookDeliver } from './webhook-deliver.js'

/** What `punctual serve --handlers` loads; its type is what `createClient<typeof handlers>()` wants. */
export const handlers = [fibonacci, reportBuild, webhookDeliver] as const
