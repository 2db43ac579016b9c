import type { ConnectError } from '@connectrpc/connect';
import type { EvaluateStreamResult } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { Pending } from './pending.js';

/** Transports evaluations to the service. Every batch sent is answered or lost, exactly once. */
export interface Carrier {
  /** Whether another connection than one that failed answers. */
  readonly hasAnother: boolean;
  send(batch: readonly Pending[]): void;
  /** Ends running batches. Nothing is reported any more. */
  close(): void;
}

/** Receives the outcome of a batch. */
export interface CarrierEvents {
  /** One result for each evaluation, in the order of the batch. */
  answered(batch: readonly Pending[], results: readonly EvaluateStreamResult[]): void;
  /** The transport of these batches failed; the service may or may not have evaluated them. */
  lost(batches: readonly (readonly Pending[])[], error: ConnectError): void;
}
