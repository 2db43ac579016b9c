import { EndpointError } from './errors.js';

/** Bounds how many calls run at the same time, and how many wait. A call that is aborted leaves the queue at once. */
export class CallQueue {
  readonly #limit: number;
  readonly #maxWaiting: number;
  /** In the order of their arrival. */
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limit: number, maxWaiting: number) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Rejects with the reason of the signal when it is aborted while waiting, and with Overloaded when the queue is full. */
  async run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.#running < this.#limit) this.#running += 1;
    else await this.#turn(signal);
    try {
      return await call();
    } finally {
      const [next] = this.#waiting;
      // A call that ends hands its place on.
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#maxWaiting) {
      return Promise.reject(new EndpointError('Overloaded', 'too many calls wait for the model'));
    }
    return new Promise((resolve, reject) => {
      const start = (): void => {
        this.#waiting.delete(start);
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiting.delete(start);
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(start);
    });
  }
}
