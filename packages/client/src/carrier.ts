import type { ConnectError, Client as RpcClient } from '@connectrpc/connect';
import type {
  EvaluateStreamResult,
  EvaluationService,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { explainedError } from './connection-mistakes.js';
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

/** Sends each batch as a call of EvaluateBatch, which is available in every protocol. */
export function createCallCarrier(rpc: RpcClient<typeof EvaluationService>, events: CarrierEvents): Carrier {
  // One for each call: Node.js warns of a leak when many calls listen to one signal.
  const running = new Set<AbortController>();
  let isClosed = false;

  async function call(batch: readonly Pending[]): Promise<void> {
    const closing = new AbortController();
    running.add(closing);
    try {
      const evaluations = batch.map((pending) => pending.message);
      const timeoutMs = Math.ceil(latestExpiry(batch) - performance.now());
      const options = { signal: closing.signal, timeoutMs: Math.max(1, timeoutMs) };
      // Evaluations with headers are sent alone.
      const headers = batch[0]?.headers;
      const { results } = await rpc.evaluateBatch(
        { evaluations },
        headers === undefined ? options : { ...options, headers },
      );
      if (!isClosed) events.answered(batch, results);
    } catch (error) {
      if (!isClosed) events.lost([batch], explainedError(error));
    } finally {
      running.delete(closing);
    }
  }

  return {
    hasAnother: false,
    send: (batch) => void call(batch),
    close() {
      isClosed = true;
      for (const one of running) one.abort();
    },
  };
}

function latestExpiry(batch: readonly Pending[]): number {
  return batch.reduce((latest, pending) => Math.max(latest, pending.expiresAt), 0);
}
