import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Where generated code lives below the project's folder. Never edited by hand; emptied at each generation. */
export const GENERATED = 'proto/generated'

/** The descriptor sets that reflection serves: buf's own, for proto-loader's lose their imports. */
const DESCRIPTOR_SETS = [
  // with its comments: `grpcurl describe` is the manual that most callers will ever read
  { file: 'punctual.binpb', of: ['proto'] },
  { file: 'health.binpb', of: ['node_modules/grpc-health-check/proto', '--exclude-source-info'] },
  {
    file: 'reflection.binpb',
    // only this folder of it: the sample files beside it do not build
    of: [
      'node_modules/@grpc/reflection/build/proto',
      '--path',
      'node_modules/@grpc/reflection/build/proto/grpc',
      '--exclude-source-info',
    ],
  },
] as const

/** Writes TypeScript and descriptor sets for every .proto file to `proto/generated` below `folder`. */
export function generateProtos(folder: string): void {
  buf(['generate', '--output', folder])
  for (const { file, of } of DESCRIPTOR_SETS) {
    const out = join(folder, GENERATED, file)
    buf(['build', ...of, '--as-file-descriptor-set', '--output', out])
  }
}

/** Runs the buf of this project (npm scripts have it on their PATH); what it says goes to the terminal. */
function buf(args: readonly string[]): void {
  execFileSync('buf', args, { stdio: 'inherit' })
}
