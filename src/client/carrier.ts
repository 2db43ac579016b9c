import type { ConnectError } from '@connectrpc/connect';
import type { EvaluateStreamResult } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { Pending } from './pending.js';

/** What takes evaluations to the service. Every batch that is sent is answered or lost, exactly once. */
export interface Carrier {
  send(batch: readonly Pending[]): void;
  /** Ends what runs. Nothing is reported any more. */
  close(): void;
}

/** Told what became of a batch. */
export interface CarrierEvents {
  /** One result for each evaluation, in the order of the batch. */
  answered(batch: readonly Pending[], results: readonly EvaluateStreamResult[]): void;
  /** Whatever carried these batches failed; perhaps the service evaluated them, perhaps not. */
  lost(batches: readonly (readonly Pending[])[], error: ConnectError): void;
}
