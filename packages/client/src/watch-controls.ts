import { Code, ConnectError, type Client as RpcClient } from '@connectrpc/connect';
import type {
  AgentControl,
  AgentService,
  WatchControlsResponse,
} from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { askedPauseMs, mayContinue } from './failures.js';
import { pauseMs, resting } from './pause.js';
import { milliseconds, whole } from './settings.js';
import { SILENCE_MS, WatchAttempt } from './watch-attempt.js';

/** Options of `watchControls`. */
export interface WatchOptions {
  /** Ends the watch: the loop over it ends without an error. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Largest message that the service may send, in bytes, 65,536 to 2^31 - 1. The service sends controls that do not fit
   * in one message in several; the loop gets them together.
   */
  readonly maxMessageBytes?: number | undefined;
  /** Without a message for this long the connection counts as lost, in milliseconds; 45,000 when absent. */
  readonly silenceMs?: number | undefined;
  /** Aborted when the client should ask at once whether it is current, instead of waiting for the next message. */
  readonly nudge?: (() => AbortSignal) | undefined;
}

/** The controls of an agent. */
export interface WatchedControls {
  /** Revision up to which they are current. */
  readonly revision: bigint;
  /** All controls by id, in the order of ids descending. Not changed later. */
  readonly controls: ReadonlyMap<number, AgentControl>;
  /** Whether they differ from those before. */
  readonly changed: boolean;
  /** Time of `performance.now()` when the service last confirmed that there are no later ones. */
  readonly confirmedAt: number;
}

/** Limits of the service for the size of a message. */
const MIN_BYTES = 65_536;
const MAX_BYTES = 2 ** 31 - 1;

/**
 * The controls of an agent: first all of them, then again after each change and each confirmation that nothing changed.
 * Continues from the last revision when the connection or the service fails.
 */
export async function* watchControls(
  rpc: RpcClient<typeof AgentService>,
  agentName: string,
  options: WatchOptions,
  closing: AbortSignal,
): AsyncGenerator<WatchedControls, void, undefined> {
  const signal = options.signal === undefined ? closing : AbortSignal.any([options.signal, closing]);
  const silenceMs = milliseconds('silenceMs', options.silenceMs ?? SILENCE_MS, 1);
  const { maxMessageBytes } = options;
  if (maxMessageBytes !== undefined) whole('maxMessageBytes', maxMessageBytes, MAX_BYTES, MIN_BYTES);
  let state: State | undefined;
  let failures = 0;
  while (!signal.aborted) {
    const attempt = new WatchAttempt(signal, silenceMs, options.nudge?.());
    try {
      const request = {
        agentName,
        ...(state === undefined ? {} : { fromRevision: state.revision }),
        ...(maxMessageBytes === undefined ? {} : { maxMessageBytes }),
      };
      for await (const message of rpc.watchControls(request, { signal: attempt.signal })) {
        attempt.heard();
        const read = next(state, message);
        state = read;
        if (read === undefined)
          throw new ConnectError('the service sent an unknown message', Code.Unavailable);
        failures = 0;
        if (message.incomplete) continue;
        yield published(read, message);
        state = { ...read, changed: false };
      }
      // The service ended it without an error, which it does not do on its own.
      await resting(pauseMs(failures++), signal);
    } catch (reason) {
      if (signal.aborted) return;
      const error = ConnectError.from(reason);
      if (attempt.wasNudged) continue;
      if (!attempt.wasSilent && !mayContinue(error)) throw error;
      await resting(pauseMs(failures++, askedPauseMs(error)), signal);
    } finally {
      attempt.end();
    }
  }
}

interface State {
  readonly revision: bigint;
  readonly controls: ReadonlyMap<number, AgentControl>;
  /** Whether something changed since the controls were last given to the caller. */
  readonly changed: boolean;
}

/** The state after a message; undefined when everything must be read again. */
function next(before: State | undefined, message: WatchControlsResponse): State | undefined {
  const { revision, news } = message;
  switch (news.case) {
    case 'full':
      return { revision, controls: sorted(news.value.controls), changed: true };
    case 'changed': {
      const kept = new Map(before?.controls);
      for (const id of news.value.removed) kept.delete(id);
      for (const control of news.value.upserted) kept.set(control.id, control);
      return { revision, controls: sorted(kept.values()), changed: true };
    }
    case 'current':
      return before === undefined ? undefined : { ...before, revision };
    default:
      // A message of a later service may change what this client knows.
      return undefined;
  }
}

function sorted(controls: Iterable<AgentControl>): Map<number, AgentControl> {
  const all = [...controls].sort((left, right) => right.id - left.id);
  return new Map(all.map((control) => [control.id, control]));
}

function published(state: State, { news }: WatchControlsResponse): WatchedControls {
  const staleMs = news.case === 'current' ? news.value.stalenessSeconds * 1_000 : 0;
  return { ...state, confirmedAt: performance.now() - staleMs };
}
