/** `npm run generate`: generated code and descriptor sets, in place. */
import { generateProtos } from './generate-protos.js'

generateProtos('.')
