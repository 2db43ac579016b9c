import type { Principal } from '../../contract/call/handler.js';
import type { Namespace } from '../../contract/call/namespace.js';
import { orAborted } from '../../contract/call/or-aborted.js';
import { type LimitedSignal, limitedSignal } from '../../contract/call/time-limited.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import type { KnownCaller } from './evaluation-caller.js';

/** The caller of an evaluation with a time limit of its own. */
export class TimedCaller implements KnownCaller {
  readonly #caller: KnownCaller;
  readonly #limitMs: number;
  #time: LimitedSignal | undefined;

  constructor(caller: KnownCaller, limitMs: number) {
    this.#caller = caller;
    this.#limitMs = limitMs;
  }

  get protocol(): string {
    return this.#caller.protocol;
  }

  get adapter(): string | undefined {
    return this.#caller.adapter;
  }

  get namespace(): Namespace {
    return this.#caller.namespace;
  }

  get principal(): Principal {
    return this.#caller.principal;
  }

  get address(): string | null {
    return this.#caller.address;
  }

  get requestId(): string {
    return this.#caller.requestId;
  }

  header(name: string): string | undefined {
    return this.#caller.header(name);
  }

  spend(evaluations: number): void {
    this.#caller.spend(evaluations);
  }

  /** Aborted at the end of the time, or when the answer is not awaited any more. The first access starts the time. */
  get signal(): AbortSignal {
    this.#time ??= limitedSignal(this.#caller.signal, this.#limitMs, () => timeIsUp(this.#limitMs));
    return this.#time.signal;
  }

  /** Waits for a result, at most until the end of the time. A result that is no promise needs no timer. */
  bound<T>(result: T | Promise<T>): T | Promise<T> {
    if (!(result instanceof Promise)) {
      this.#time?.end();
      return result;
    }
    return orAborted(result, this.signal).finally(() => this.#time?.end());
  }
}

function timeIsUp(limitMs: number): ServiceError {
  return new ServiceError('DEADLINE_EXCEEDED', {
    detail: `The evaluation took longer than its timeout of ${limitMs / 1000} s.`,
  });
}
