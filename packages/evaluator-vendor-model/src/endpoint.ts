import { createRequire } from 'node:module';
import type { IRetryBackoffContext } from 'cockatiel';
import { CallQueue } from './call-queue.js';
import { Cancelled, EndpointError } from './errors.js';
import { post, type Target } from './http-call.js';
import { type Reply, readReply } from './reply.js';

/** Bounds of the calls of one endpoint. */
export interface EndpointLimits {
  /** Calls at the same time. */
  readonly concurrent: number;
  /** Calls that wait for their turn; further ones fail at once. */
  readonly waiting: number;
  /** How often a failed call is repeated at most. */
  readonly retries: number;
  /** Longest delay of the first repetition, in milliseconds; it doubles with each further one. */
  readonly retryDelayMs: number;
  /** Consecutive failures after which the endpoint is not called for a while. */
  readonly failuresToOpen: number;
  /** How long that is, in milliseconds; then one call finds out whether the endpoint works again. */
  readonly openMs: number;
}

export const DEFAULT_LIMITS: EndpointLimits = {
  concurrent: 32,
  waiting: 256,
  retries: 2,
  retryDelayMs: 200,
  failuresToOpen: 5,
  openMs: 10_000,
};

/** The model behind one address, with all that keeps its troubles away from the service. */
export interface Endpoint {
  /**
   * Asks the model. Rejects with an EndpointError, or with the reason of the signal as soon as that is aborted.
   * `deadline` is when it will be, on the clock of `performance.now()`.
   */
  ask(body: string, deadline: number, signal: AbortSignal): Promise<Reply>;
  readonly running: number;
  readonly waiting: number;
  readonly breaker: 'closed' | 'half_open' | 'open';
}

export interface EndpointOptions extends Target {
  readonly limits: EndpointLimits;
  readonly onBreaker: (state: 'closed' | 'half_open' | 'open') => void;
}

/** Most services have no endpoint, and do not need this library. */
const loadCockatiel = () => createRequire(import.meta.url)('cockatiel') as typeof import('cockatiel');

export function createEndpoint({ limits, onBreaker, ...target }: EndpointOptions): Endpoint {
  const { BrokenCircuitError, CircuitState, ConsecutiveBreaker, ...cockatiel } = loadCockatiel();
  const { circuitBreaker, DelegateBackoff, handleWhen, retry } = cockatiel;
  const STATES = {
    [CircuitState.Closed]: 'closed',
    [CircuitState.HalfOpen]: 'half_open',
    [CircuitState.Open]: 'open',
    [CircuitState.Isolated]: 'open',
  } as const;
  const queue = new CallQueue(limits.concurrent, limits.waiting);
  const breaker = circuitBreaker(handleWhen(countsForBreaker), {
    halfOpenAfter: limits.openMs,
    breaker: new ConsecutiveBreaker(limits.failuresToOpen),
  });
  const retrying = retry(
    handleWhen((error) => error instanceof EndpointError && error.retryable),
    { maxAttempts: limits.retries, backoff: new DelegateBackoff(retryDelay) },
  );
  breaker.onStateChange((state) => onBreaker(STATES[state]));

  /** A time-out counts as a failure. A call that was cancelled says nothing, unless it was to find something out. */
  function countsForBreaker(error: Error): boolean {
    if (error instanceof EndpointError) return error.outOfOrder;
    if (error instanceof Cancelled) return breaker.state === CircuitState.HalfOpen;
    return true;
  }

  function retryDelay({ attempt, result }: IRetryBackoffContext<unknown>): number {
    const asked = 'error' in result && result.error instanceof EndpointError ? result.error.retryAfterMs : 0;
    // Full jitter: clients that failed together must not come back together.
    return asked + Math.random() * limits.retryDelayMs * 2 ** (attempt - 1);
  }

  async function attempt(body: string, deadline: number, signal: AbortSignal): Promise<Reply> {
    // All other calls would wait for the one that finds out.
    if (breaker.state === CircuitState.HalfOpen) throw circuitOpen();
    try {
      return await breaker.execute(async () => readReply(await post(target, body, signal)));
    } catch (error) {
      if (error instanceof BrokenCircuitError) throw circuitOpen();
      if (!(error instanceof EndpointError) || !error.retryable) throw error;
      if (performance.now() + error.retryAfterMs < deadline) throw error;
      // There is no time for another attempt.
      throw new EndpointError(error.type, error.message);
    }
  }

  return {
    ask(body, deadline, signal) {
      const asked = retrying.execute(() => queue.run(() => attempt(body, deadline, signal), signal), signal);
      return unlessAborted(asked, signal);
    },
    get running() {
      return queue.running;
    },
    get waiting() {
      return queue.waiting;
    },
    get breaker() {
      return STATES[breaker.state];
    },
  };
}

function circuitOpen(): EndpointError {
  return new EndpointError('CircuitOpen', 'the model is not asked for a while, because it failed repeatedly');
}

/** The wait between two attempts cannot be aborted, so the caller is released instead. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
