/** What the client for Node.js (node.ts) and the one for other runtimes (web.ts) have in common. */
import type { Interceptor } from '@connectrpc/connect';
import type { Client, ClientSettings, TransportOptions } from './client-types.js';
import { createClientOver } from './create-client.js';

export { Code, ConnectError } from '@connectrpc/connect';
export type { AgentControl } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
export { ApprovalState as ApprovalStateValue } from '../../../gen/proto/enforcement/v1/approval_pb.js';
export { Decision, Execution, Stage as StageValue } from '../../../gen/proto/enforcement/v1/control_pb.js';
export type {
  ControlResult,
  EvaluateResponse,
  EvaluatorResult,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
export { AppliesTo } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
export type { Approval, ApprovalState } from './approvals.js';
export type * from './client-types.js';
export {
  ApprovalDeniedError,
  ApprovalExpiredError,
  ApprovalRequiredError,
  type CheckedStep,
  DeniedError,
  NotEvaluatedError,
  SteerError,
  StepDataError,
  StepError,
} from './errors.js';
export { guardTool } from './guard.js';
export type { GuardScope } from './guard-options.js';
export type { ApiKey } from './key-source.js';
export type { Halt, Limit } from './limits.js';
export type { LocalControls, LocalDecider, LocalHost, LocalQuestion } from './local-controls.js';
export type { EventPublisher, NewEvent, PublishOptions } from './publish-events.js';
export type { ServerInfo } from './server-info.js';
export type { Services } from './services.js';
export type * from './types.js';
export { isSafe, outcomeOf } from './verdict.js';
export type { WatchedControls, WatchOptions } from './watch-controls.js';

/** Settings of a client that makes its own connections. */
export interface AddressSettings extends ClientSettings {
  /** Scheme, host and port, for example `http://localhost:8000`; with https the connection is encrypted. */
  readonly baseUrl: string;
  /** Interceptors of Connect. They see every call and stream with its headers, the key included. */
  readonly interceptors?: readonly Interceptor[] | undefined;
}

/** Creates a client over a transport of Connect, for example gRPC-Web. */
export function clientOverTransport(options: TransportOptions): Client {
  const { transport, streaming = false, ...settings } = options;
  if (transport === undefined) {
    throw new TypeError(
      'transport is missing: give a transport of Connect, for example createGrpcWebTransport, or baseUrl',
    );
  }
  for (const name of ['interceptors', 'connections', 'baseUrl', 'ca']) {
    if (name in options)
      throw new TypeError(`${name} cannot be combined with transport: give it to the transport`);
  }
  return createClientOver(settings, { all: [{ transport }], streaming, close() {} });
}
