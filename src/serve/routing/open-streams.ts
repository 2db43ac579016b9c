import type { DescService } from '@bufbuild/protobuf';
import { Health } from '../../../gen/proto/grpc/health/v1/health_pb.js';
import { ServerReflection as ServerReflectionV1 } from '../../../gen/proto/grpc/reflection/v1/reflection_pb.js';
import { ServerReflection as ServerReflectionV1Alpha } from '../../../gen/proto/grpc/reflection/v1alpha/reflection_pb.js';
import { restTemplate, rpcMethods } from '../descriptors/rpc-methods.js';

/** Identifies streams among the running calls, so that they can be counted without a separate counter. */
export interface StreamNames {
  /** Whether an RPC, `package.Service/Method`, takes or returns a stream. */
  isStream(rpc: string): boolean;
  /** The RPC of a JSON route that returns a stream; undefined for every other route. */
  streamOfRoute(verb: string, template: string): string | undefined;
}

/** gRPC's own services, which have no options of this API. */
const OF_GRPC = [Health, ServerReflectionV1, ServerReflectionV1Alpha];

/** Finds the streams among the methods of services; `apiBase` is the prefix of JSON routes. */
export function createStreamNames(services: readonly DescService[], apiBase: string): StreamNames {
  const rpcs = new Set<string>();
  for (const service of [...services, ...OF_GRPC]) {
    for (const { name, methodKind } of service.methods) {
      if (methodKind !== 'unary') rpcs.add(`${service.typeName}/${name}`);
    }
  }
  const routes = new Map<string, string>();
  for (const { name, desc, bindings } of services.flatMap(rpcMethods)) {
    if (desc.methodKind !== 'server_streaming') continue;
    for (const binding of bindings) routes.set(`${binding.verb} ${restTemplate(binding, apiBase)}`, name);
  }
  return {
    isStream: (rpc) => rpcs.has(rpc),
    streamOfRoute: (verb, template) => routes.get(`${verb} ${template}`),
  };
}
