import { orAborted } from '../contract/call/or-aborted.js';
import { ServiceError } from '../contract/errors/service-error.js';
import type { EvaluationCaller } from './evaluation-caller.js';

/** The caller of an evaluation with a time limit of its own. */
export class TimedCaller implements EvaluationCaller {
  readonly #caller: EvaluationCaller;
  readonly #limitMs: number;
  #controller: AbortController | undefined;
  #end: () => void = () => {};

  constructor(caller: EvaluationCaller, limitMs: number) {
    this.#caller = caller;
    this.#limitMs = limitMs;
  }

  get protocol(): string {
    return this.#caller.protocol;
  }

  header(name: string): string | undefined {
    return this.#caller.header(name);
  }

  spend(evaluations: number): void {
    this.#caller.spend(evaluations);
  }

  /** Aborted at the end of the time, or when the answer is not awaited any more. The first access starts the time. */
  get signal(): AbortSignal {
    this.#controller ??= this.#start();
    return this.#controller.signal;
  }

  /** Waits for a result, at most until the end of the time. A result that is no promise needs no timer. */
  bound<T>(result: T | Promise<T>): T | Promise<T> {
    if (!(result instanceof Promise)) {
      this.#end();
      return result;
    }
    return orAborted(result, this.signal).finally(() => this.#end());
  }

  #start(): AbortController {
    const controller = new AbortController();
    const caller = this.#caller.signal;
    const timer = setTimeout(() => controller.abort(timeIsUp(this.#limitMs)), this.#limitMs);
    const left = (): void => controller.abort(caller.reason);
    if (caller.aborted) left();
    else caller.addEventListener('abort', left, { once: true });
    this.#end = () => {
      clearTimeout(timer);
      caller.removeEventListener('abort', left);
    };
    return controller;
  }
}

function timeIsUp(limitMs: number): ServiceError {
  return new ServiceError('DEADLINE_EXCEEDED', {
    detail: `The evaluation took longer than its timeout of ${limitMs / 1000} s.`,
  });
}
