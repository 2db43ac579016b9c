import type { EvaluationFields, StreamFields } from '../wire/evaluation-codec.js';

/** The RPCs that evaluate steps, by their local names. */
export type EvaluationRpc = 'evaluate' | 'evaluateBatch' | 'evaluateStream';

/** A message of an evaluation as it arrived: `grpc` is protobuf on the fast path, the others are those of Connect. */
export interface EvaluationMessage {
  readonly rpc: EvaluationRpc;
  readonly form: 'rest' | 'json' | 'binary' | 'grpc';
  /** They may be passed to another thread: nothing else reads them. */
  readonly bytes: Uint8Array;
}

/** A message that was read elsewhere. `release` must be called when its evaluations are over. */
export interface HeldMessage extends StreamFields {
  release(): void;
}

/**
 * Reads and evaluates large messages in another thread, so that a step whose work is more than some milliseconds holds
 * up no other call.
 */
export interface HeavySteps {
  /** Whether a message of this size is passed on; others are read by the adapter. */
  takes(rpc: EvaluationRpc, bytes: number): boolean;
  /**
   * Rejects with the errors that reading in the same protocol has, and with SERVICE_UNAVAILABLE when the thread is lost.
   */
  read(message: EvaluationMessage): Promise<HeldMessage>;
}

/** Uses a message that is read elsewhere, and releases it. */
export async function withHeldMessage<Result>(
  steps: HeavySteps,
  message: EvaluationMessage,
  use: (held: HeldMessage) => Result | Promise<Result>,
): Promise<Result> {
  const held = await steps.read(message);
  try {
    return await use(held);
  } finally {
    held.release();
  }
}

/** The only evaluation of a message that has one. */
export function onlyEvaluation({ evaluations }: StreamFields): EvaluationFields {
  const [only] = evaluations;
  if (only === undefined) throw new Error('a message of one evaluation was read as none');
  return only;
}
