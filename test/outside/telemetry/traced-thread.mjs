import { tsImport } from 'tsx/esm/api'

// A thread of a process that runs under tsx does not load TypeScript by itself.
await tsImport('./traced-thread.ts', import.meta.url)
