import { fuzzWire } from './fuzz-wire.js'

fuzzWire(500)
