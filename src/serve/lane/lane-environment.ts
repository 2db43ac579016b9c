import type { KeyReader } from '../auth/key-reader.js';
import type { CallHost } from '../call/call-host.js';
import type { StoppableCall } from './outside-end.js';

/** Dependencies of every call of a lane. */
export interface LaneEnvironment extends CallHost {
  /** Calls to be stopped when the server shuts down. */
  readonly running: Set<StoppableCall>;
  /** Lanes serve evaluations only. */
  readonly keyReader: Pick<KeyReader, 'evaluationKeyOf'>;
}

/** Creates the set of running calls, which are stopped when `signal` is aborted; its reason is their error. */
export function createRunningCalls(signal: AbortSignal): Set<StoppableCall> {
  const running = new Set<StoppableCall>();
  signal.addEventListener('abort', () => {
    for (const call of running) call.stop(signal.reason as Error);
  });
  return running;
}
