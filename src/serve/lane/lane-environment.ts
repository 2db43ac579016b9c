import type { IncomingHttpHeaders } from 'node:http';
import type { KeyReader } from '../auth/key-reader.js';
import type { Call } from '../call/call.js';
import type { CallHost } from '../call/call-host.js';
import type { Reply } from '../wire/reply.js';
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

/** One request and its reply on their socket, in either version of HTTP. */
export interface Exchange {
  readonly headers: IncomingHttpHeaders;
  /** What it runs on: the socket, or the HTTP/2 session. */
  readonly connection: object | undefined;
  /** Whether no reply can be sent any more. */
  readonly isClosed: boolean;
  /** Starts reading the body. Must be called at most once. */
  read(onChunk: (chunk: Buffer) => void, onEnd: () => void): void;
  /** Sends the reply, unless the exchange is closed, and discards what is still to be read. */
  reply(reply: Reply): void;
  /** Ends the exchange without a reply. */
  abort(): void;
  /**
   * Calls `closed` once, when the reply is complete or the client disconnects. `status` is the status of HTTP of the
   * reply; 499 if there was none. Before that, `failed` is called if the end of the reply is refused by Node.js.
   */
  onClose(closed: (status: number) => void, failed: (error: unknown) => void): void;
}

/** Ends an exchange whose reply Node.js refused, for reasons that are not known. Callers could not handle the error. */
export function giveUp(error: unknown, call: Call, exchange: Exchange, { log }: LaneEnvironment): void {
  const { requestId, route } = call;
  const facts = { err: error, requestId, rpc: route.path.slice(1), ...call.traceFacts() };
  log.error(facts, 'a reply failed');
  exchange.abort();
}
