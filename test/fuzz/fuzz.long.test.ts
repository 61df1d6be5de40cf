import { fuzzParsers } from './fuzz-parsers.js'
import { fuzzWire } from './fuzz-wire.js'

// together a good hundred thousand
fuzzParsers(4_000)
fuzzWire(45_000)
