import { defineHandler } from '../../server/handlers/index.js'

if (process.env['UNFIT_IN_THREADS'] === undefined) throw new Error('UNFIT_IN_THREADS is not set')

/** Loads only where its variable is set: in the main thread, but not in a thread whose environment leaves it out. */
export const handlers = [defineHandler({ name: 'unfit', run: () => 1 })] as const
