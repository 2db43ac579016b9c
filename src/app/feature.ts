import type { DescService } from '@bufbuild/protobuf';
import type { AnyHandler } from '../contract/call/handler.js';
import { limitedToAgents } from '../transport/auth/agent-scope.js';
import { type RpcMethod, rpcMethods } from '../transport/descriptors/rpc-methods.js';

/** RPCs of one service implemented by handlers, for every protocol. */
export interface Feature {
  readonly service: DescService;
  readonly methods: readonly ServedMethod[];
}

/** An RPC and its handler. */
export interface ServedMethod {
  readonly method: RpcMethod;
  readonly handler: AnyHandler;
}

/** The RPCs of `service` that `handlers` has a member for, by the local name of the RPC. */
export function feature(service: DescService, handlers: Readonly<Record<string, AnyHandler>>): Feature {
  const methods: ServedMethod[] = [];
  for (const method of rpcMethods(service)) {
    const handler = handlers[method.desc.localName];
    if (handler !== undefined) methods.push({ method, handler: limitedToAgents(method, handler) });
  }
  return { service, methods };
}
