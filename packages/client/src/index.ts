/**
 * A client for agents: `import { createClient } from '@control-enforcement/client'`. This part also
 * runs in browsers; node.ts adds the gRPC transport of Node.js.
 */
import { createClient as createClientOver } from './create-client.js';
import type { Client, TransportOptions } from './types.js';

export type {
  ControlResult,
  EvaluateResponse,
  EvaluatorResult,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
export { type CheckedStep, DeniedError, NotEvaluatedError, SteerError, StepError } from './errors.js';
export type * from './types.js';

/** Creates a client over a transport of Connect, for example gRPC-Web. */
export function createClient(options: TransportOptions): Client {
  return createClientOver(options);
}
