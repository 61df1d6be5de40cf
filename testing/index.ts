/** The test kit of Punctual: `import { startTestServer } from 'punctual/testing'`. */
export { startTestServer, type TestServer, type TestServerOptions } from './test-server.js'
export { VirtualClock } from './virtual-clock.js'
