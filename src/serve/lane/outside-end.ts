import type { IncomingHttpHeaders } from 'node:http';
import { Code, ConnectError } from '@connectrpc/connect';
import { LONGEST_TIMER_MS } from '../../contract/call/time-limited.js';
import type { Call } from '../call/call.js';
import { callerTimeoutOf, deadlinePassed } from '../call/deadline.js';

/** A call that can be ended from outside. */
export interface StoppableCall {
  /** Ends the call with an error; without effect once it is over. */
  stop(reason: Error): void;
}

/** What ends a call from outside: its deadline, a time limit, its caller, and the server. */
export class OutsideEnd {
  /** The caller's deadline in the time of `performance.now`; infinite without one. */
  #deadline = Number.POSITIVE_INFINITY;
  readonly #call: StoppableCall;
  readonly #running: Set<StoppableCall> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #cancel: AbortController | undefined;

  /** `running` are the calls that the server stops, if this is one of them. */
  constructor(call: StoppableCall, running: Set<StoppableCall> | undefined) {
    this.#call = call;
    this.#running = running;
  }

  /** Takes the deadline from the headers of an RPC. Throws if it is none. */
  readDeadline({ protocol, startedAt }: Call, headers: IncomingHttpHeaders): void {
    if (headers['grpc-timeout'] === undefined && headers['connect-timeout-ms'] === undefined) return;
    const { ms, error } = callerTimeoutOf(protocol, (name) => headers[name]?.toString());
    if (error !== undefined) throw error;
    this.#deadline = startedAt + ms;
  }

  /** Ends the call at its deadline, or after `limitMs` if that is sooner. Replaces the previous limit. */
  within(limitMs: number, onLimit: () => ConnectError): void {
    clearTimeout(this.#timer);
    const leftMs = this.#deadline - performance.now();
    const [waitMs, reason] = leftMs < limitMs ? [leftMs, deadlinePassed] : [limitMs, onLimit];
    if (waitMs <= LONGEST_TIMER_MS) this.#timer = setTimeout(() => this.#call.stop(reason()), waitMs);
  }

  /** Ends the call at its deadline only. */
  atDeadline(): void {
    this.within(Number.POSITIVE_INFINITY, neverReached);
  }

  /** Throws if the deadline has passed. Needed because a timer may be late. */
  check(): void {
    if (this.#deadline !== Number.POSITIVE_INFINITY && performance.now() >= this.#deadline)
      throw deadlinePassed();
  }

  /** The signal of the caller; `gone` is its reason if the caller has disconnected already. */
  signal(gone: Error | undefined): AbortSignal {
    if (this.#cancel === undefined) {
      this.#cancel = new AbortController();
      if (gone !== undefined) this.#cancel.abort(gone);
      else this.#running?.add(this.#call);
    }
    return this.#cancel.signal;
  }

  /** Aborts the signal, if there is one. */
  abort(reason: Error): void {
    this.#cancel?.abort(reason);
  }

  /** Must be called when the reply is sent: no limit ends the call any more. */
  stopTimer(): void {
    clearTimeout(this.#timer);
  }

  /** Must be called when the exchange is closed. */
  close(gone: () => Error): void {
    clearTimeout(this.#timer);
    if (this.#cancel === undefined) return;
    this.#cancel.abort(gone());
    this.#running?.delete(this.#call);
  }
}

/** The reason of the signal of an RPC whose caller has disconnected. */
export function callCanceled(): ConnectError {
  return new ConnectError('the call was canceled', Code.Canceled);
}

function neverReached(): never {
  throw new Error('a call without a limit has reached it');
}
