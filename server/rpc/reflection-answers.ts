import { readFileSync } from 'node:fs'
import { fromBinary, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import type { MethodDefinition, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import { ReflectionService } from '@grpc/reflection'

/** Made by buf beside the generated code, for every service on the port. */
const DESCRIPTOR_SETS = ['punctual.binpb', 'health.binpb', 'reflection.binpb']

/** What the library uses of a call. */
interface QuestionStream {
  on(event: string, listener: (message: unknown) => void): unknown
  write(message: unknown): unknown
  end(): unknown
}

/** How one version of reflection reads, answers and writes. */
export interface Answering {
  readonly method: MethodDefinition<unknown, unknown>
  readonly handle: (stream: QuestionStream) => void
}

/**
 * What the library answers with, by the path of the method.
 *
 * From buf's own descriptors: those that the library makes of a loaded package have no imports, and no client can resolve them.
 */
export function reflectionAnswers(): ReadonlyMap<string, Answering> {
  const fileDescriptorProtos = DESCRIPTOR_SETS.flatMap((name) => {
    const bytes = readFileSync(new URL(`../../proto/generated/${name}`, import.meta.url))
    return fromBinary(FileDescriptorSetSchema, bytes).file
  }).map((file) => Buffer.from(toBinary(FileDescriptorProtoSchema, file)))
  // of a package definition, the service reads these bytes only
  const definition = { files: { fileDescriptorProtos } } as unknown as ConstructorParameters<
    typeof ReflectionService
  >[0]
  const answers = new Map<string, Answering>()
  new ReflectionService(definition).addToServer({
    addService(service: ServiceDefinition, implementation: UntypedServiceImplementation) {
      for (const [name, method] of Object.entries(service))
        answers.set(method.path, { method, handle: implementation[name] as Answering['handle'] })
    },
  })
  return answers
}
