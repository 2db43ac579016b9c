import { Code, ConnectError } from '@connectrpc/connect';
import type {
  EvaluateRequest,
  EvaluateResponse,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { evaluatedBy } from './combined.js';
import { isUnavailability } from './failures.js';
import type { Evaluation, OnUnavailable } from './types.js';

export interface PendingOptions {
  readonly headers: Headers | undefined;
  readonly timeoutMs: number;
  readonly onUnavailable: OnUnavailable;
  readonly signal: AbortSignal | undefined;
  /** Called once, when it is settled for any reason. */
  readonly onSettled: (pending: Pending) => void;
  /** Called on a timeout. */
  readonly onTimeout: () => void;
}

/** An evaluation awaited by a caller. */
export class Pending {
  readonly promise: Promise<Evaluation>;
  readonly message: EvaluateRequest;
  /** Headers of its own; it is then sent alone. */
  readonly headers: Headers | undefined;
  /** Size of the step. */
  readonly bytes: number;
  /** Milliseconds of `performance.now()`. */
  readonly expiresAt: number;
  /** When it was made, in milliseconds of `performance.now()`. */
  readonly since = performance.now();
  /** Number of answers with a transient status. */
  attempts = 0;
  /** Number of carrier failures that it may have caused. */
  suspicions = 0;
  /** Whether it is sent separately from others. */
  alone = false;
  settled = false;
  /** Whether it was sent again because its key was refused. */
  keyRenewed = false;
  /** Called when it is settled without the answer of the stream that carries it. */
  abandoned: (() => void) | undefined;
  readonly #options: PendingOptions;
  readonly #timer: ReturnType<typeof setTimeout>;
  #resolve: (evaluation: Evaluation) => void = () => {};
  #reject: (reason: unknown) => void = () => {};
  #stopListening: () => void = () => {};
  #lastError: ConnectError | undefined;

  constructor(message: EvaluateRequest, options: PendingOptions) {
    this.message = message;
    this.headers = options.headers;
    this.#options = options;
    this.bytes = message.stepForm.case === 'stepJson' ? message.stepForm.value.length : 0;
    this.expiresAt = performance.now() + options.timeoutMs;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timer = setTimeout(() => this.#timeIsUp(), options.timeoutMs);
    const { signal } = options;
    if (signal !== undefined) this.#stopListening = onAbort(signal, () => this.giveUp(signal.reason));
  }

  /** Records an error, reported on a timeout. */
  note(error: ConnectError): void {
    this.#lastError = error;
  }

  answer(verdict: EvaluateResponse): void {
    if (this.#settle()) this.#resolve(evaluatedBy(verdict));
  }

  fail(error: ConnectError): void {
    if (!this.#settle()) return;
    if (!isUnavailability(error)) {
      this.#reject(error);
      return;
    }
    const reason = `The step was not evaluated: ${error.rawMessage}`;
    this.#resolve({ evaluated: false, isSafe: this.#options.onUnavailable === 'allow', reason, error });
  }

  /** Ends it with the given reason, which never allows the step. */
  giveUp(reason: unknown): void {
    if (!this.#settle()) return;
    this.#reject(reason);
    this.abandoned?.();
  }

  #timeIsUp(): void {
    const last = this.#lastError;
    const because = last === undefined ? '' : `, last because of: ${last.rawMessage}`;
    const message = `no answer within ${this.#options.timeoutMs} ms${because}`;
    this.fail(new ConnectError(message, Code.DeadlineExceeded, undefined, undefined, last));
    this.abandoned?.();
    this.#options.onTimeout();
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    clearTimeout(this.#timer);
    this.#stopListening();
    this.#options.onSettled(this);
    return true;
  }
}

/** Callbacks to call by signal. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when the signal is aborted; returns the function that cancels it. All callbacks of a signal
 * share one listener: a signal often covers thousands of evaluations, and Node.js warns of a leak at the
 * eleventh listener.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const known = waiting.get(signal);
  const callbacks = known ?? new Set();
  callbacks.add(callback);
  if (known === undefined) {
    waiting.set(signal, callbacks);
    const tellAll = (): void => {
      for (const one of callbacks) one();
    };
    signal.addEventListener('abort', tellAll, { once: true });
  }
  return () => callbacks.delete(callback);
}
