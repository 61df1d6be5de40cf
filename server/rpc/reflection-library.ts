import { readFileSync } from 'node:fs'
import { fromBinary, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { ReflectionService } from '@grpc/reflection'

/** Made by buf beside the generated code, for every service on the port. */
const DESCRIPTOR_SETS = ['punctual.binpb', 'health.binpb', 'reflection.binpb']

/**
 * The library's reflection of what is on the port.
 *
 * From buf's own descriptors: those that the library makes of a loaded package have no imports, and no client can resolve them.
 */
export function reflectionService(): ReflectionService {
  const fileDescriptorProtos = DESCRIPTOR_SETS.flatMap((name) => {
    const bytes = readFileSync(new URL(`../../proto/generated/${name}`, import.meta.url))
    return fromBinary(FileDescriptorSetSchema, bytes).file
  }).map((file) => Buffer.from(toBinary(FileDescriptorProtoSchema, file)))
  // of a package definition, the service reads these bytes only
  const definition = { files: { fileDescriptorProtos } } as unknown as ConstructorParameters<
    typeof ReflectionService
  >[0]
  return new ReflectionService(definition)
}
