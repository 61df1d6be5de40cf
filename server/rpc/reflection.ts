import { readFileSync } from 'node:fs'
import { fromBinary, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { ReflectionService } from '@grpc/reflection'
import type { Server } from '@grpc/grpc-js'

/** Made by buf beside the generated code, for every service on the port. */
const DESCRIPTOR_SETS = ['punctual.binpb', 'health.binpb', 'reflection.binpb']

/**
 * Adds server reflection v1 and v1alpha, so that grpcurl, buf curl and their like need no proto file.
 *
 * From buf's own descriptors: those that the library makes of a loaded package have no imports, and no client can resolve them.
 */
export function addReflection(server: Server): void {
  const fileDescriptorProtos = DESCRIPTOR_SETS.flatMap((name) => {
    const bytes = readFileSync(new URL(`../../proto/generated/${name}`, import.meta.url))
    return fromBinary(FileDescriptorSetSchema, bytes).file
  }).map((file) => Buffer.from(toBinary(FileDescriptorProtoSchema, file)))
  // of a package definition, the service reads these bytes only
  const definition = { files: { fileDescriptorProtos } } as unknown as ConstructorParameters<
    typeof ReflectionService
  >[0]
  new ReflectionService(definition).addToServer(server)
}
