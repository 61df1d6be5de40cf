import type { Server } from '@grpc/grpc-js'
import type { Log } from '../task/log.js'
import { addLateService, type ServiceTarget } from './late-service.js'

const VERSIONS = ['v1', 'v1alpha']

/**
 * Adds server reflection v1 and v1alpha, so that grpcurl, buf curl and their like need no proto file.
 *
 * @returns loads it before it is asked for.
 */
export function addReflection(server: Server, log: Log): () => Promise<void> {
  const methods = VERSIONS.map((version) => ({
    path: `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
    streams: 'both' as const,
  }))
  const load = async () => {
    const { reflectionService } = await import('./reflection-library.js')
    const service = reflectionService()
    return (target: ServiceTarget) => service.addToServer(target)
  }
  return addLateService(server, methods, load, log)
}
