import type { DescService } from '@bufbuild/protobuf';
import type { ConnectRouter, ServiceImpl } from '@connectrpc/connect';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { MessageReader } from '../../contract/call/handler.js';
import type { LongStreams } from '../../serve/call/long-streams.js';
import { evaluationRpcs } from '../../serve/connect/evaluation-rpcs.js';
import { handlerRpc } from '../../serve/connect/handler-rpc.js';
import { type RpcMethod, rpcMethods } from '../../serve/descriptors/rpc-methods.js';
import type { EvaluationCalls } from '../../serve/evaluation/evaluation-calls.js';
import type { EvaluationRpc, HeavySteps } from '../../serve/evaluation/heavy-steps.js';
import { withExactSteps } from '../../serve/wire/exact-steps.js';
import { maxReplyBytes } from '../../serve/wire/reply.js';
import type { Features } from './features.js';

/** All services of the features. */
export function servicesOf({ features }: Features): DescService[] {
  return features.map((one) => one.service);
}

/** The RPCs that evaluate steps, by name: those of EvaluationService without a handler. */
export function evaluationMethods({ features }: Features): Map<string, RpcMethod> {
  const handled = new Set(features.flatMap((one) => one.methods).map(({ method }) => method.name));
  return new Map(
    rpcMethods(EvaluationService)
      .filter(({ name }) => !handled.has(name))
      .map((method) => [method.desc.name, method]),
  );
}

/** The readers of messages of RPCs, by the name of their RPC: those of handlers, and of the RPCs that evaluate steps. */
export function messageReaders(
  { features, heavySteps }: Features,
  evaluations: ReadonlyMap<string, RpcMethod>,
): Map<string, MessageReader> {
  const served = features.flatMap((one) => one.methods);
  return new Map([
    ...served.flatMap(({ method, handler }): [string, MessageReader][] =>
      'reader' in handler && handler.reader !== undefined ? [[method.name, handler.reader]] : [],
    ),
    ...heavyReaders(heavySteps, evaluations),
  ]);
}

function heavyReaders(
  steps: HeavySteps,
  evaluations: ReadonlyMap<string, RpcMethod>,
): [string, MessageReader][] {
  return [...evaluations.values()].map(({ name, desc }) => {
    const rpc = desc.localName as EvaluationRpc;
    return [
      name,
      {
        takes: (bytes) => steps.takes(rpc, bytes),
        exact: withExactSteps,
        read: (message) => steps.read({ rpc, ...message }),
      },
    ];
  });
}

/** Adds all services to a router. `bodyBytes`: the largest message. */
export function rpcServices(
  { features, heavySteps }: Features,
  calls: EvaluationCalls,
  longStreams: LongStreams,
  bodyBytes: number,
): (router: ConnectRouter) => void {
  return (router) => {
    for (const { service, methods } of features) {
      const ofHandlers = methods.map(({ method, handler }) => [
        method.desc.localName,
        handlerRpc(method, handler, maxReplyBytes(bodyBytes)),
      ]);
      const others = service === EvaluationService ? evaluationRpcs(calls, heavySteps, longStreams) : {};
      register(router, service, { ...Object.fromEntries(ofHandlers), ...others });
    }
  };
}

/** Adds a service to a router. Throws if one of its RPCs has no implementation. */
function register(
  router: ConnectRouter,
  service: DescService,
  implementation: Partial<ServiceImpl<DescService>>,
): void {
  const missing = service.methods.find(({ localName }) => !Object.hasOwn(implementation, localName));
  if (missing !== undefined) throw new Error(`${service.typeName}/${missing.name} has no handler`);
  router.service(service, implementation);
}
