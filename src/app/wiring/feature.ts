import type { DescService } from '@bufbuild/protobuf';
import { AgentScope } from '../../../gen/proto/enforcement/v1/options_pb.js';
import type { AnyHandler } from '../../contract/call/handler.js';
import { limitedToAgents } from '../../serve/auth/agent-scope.js';
import { type RpcMethod, rpcMethods } from '../../serve/descriptors/rpc-methods.js';

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

/**
 * The RPCs of `service` that `handlers` has a member for, by the local name of the RPC. Throws if the agent scope of an
 * RPC cannot be kept.
 */
export function feature(service: DescService, handlers: Readonly<Record<string, AnyHandler>>): Feature {
  const methods: ServedMethod[] = [];
  for (const method of rpcMethods(service)) {
    const handler = handlers[method.desc.localName];
    if (handler !== undefined) methods.push({ method, handler: limitedToAgents(method, handler) });
    // An evaluation has no handler. Each one of a message is limited where it is evaluated, by its agent.
    else if (method.agentScope !== AgentScope.BY_AGENT) {
      throw new Error(`${method.name} has no handler that could keep its agent scope`);
    }
  }
  return { service, methods };
}
