import type { Server } from '@grpc/grpc-js'
import { addLateService } from './late-service.js'

const VERSIONS = ['v1', 'v1alpha']

/** Adds server reflection v1 and v1alpha, so that grpcurl, buf curl and their like need no proto file. */
export function addReflection(server: Server): void {
  const methods = VERSIONS.map((version) => ({
    path: `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
    streams: 'both' as const,
  }))
  addLateService(server, methods, async () => {
    const { reflectionService } = await import('./reflection-library.js')
    const service = reflectionService()
    return (target) => service.addToServer(target)
  })
}
