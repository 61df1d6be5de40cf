import { fuzzParsers } from './fuzz-parsers.js'

fuzzParsers(200)
