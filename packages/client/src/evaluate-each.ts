import type { Client } from './client-types.js';
import type { EvaluationOptions, EvaluationRequest, StreamResult } from './types.js';

type Requests = Iterable<EvaluationRequest> | AsyncIterable<EvaluationRequest>;

/** Evaluates requests as they arrive, up to a limit at a time, and yields the results in completion order. */
export async function* evaluateEach(
  evaluate: Client['evaluate'],
  requests: Requests,
  options: EvaluationOptions,
  window: number,
): AsyncGenerator<StreamResult, void, undefined> {
  const leaving = new AbortController();
  const signal =
    options.signal === undefined ? leaving.signal : AbortSignal.any([options.signal, leaving.signal]);
  const source = iteratorOf(requests);
  const done: StreamResult[] = [];
  let running = 0;
  let sourceEnded = false;
  let sourceFailure: { readonly error: unknown } | undefined;

  /** Both sides wait for changes, so there may be several waiters. */
  let waiters: (() => void)[] = [];
  const changed = (): Promise<void> => new Promise((resolve) => waiters.push(resolve));
  const wake = (): void => {
    const woken = waiters;
    waiters = [];
    for (const resolve of woken) resolve();
  };

  async function run(index: number, request: EvaluationRequest): Promise<void> {
    running += 1;
    try {
      done.push({ index, request, evaluation: await evaluate(request, { ...options, signal }) });
    } catch (error) {
      done.push({ index, request, error });
    }
    running -= 1;
    wake();
  }

  /** Reads while there is room. Unconsumed results occupy room as well. */
  async function read(): Promise<void> {
    try {
      for (let index = 0; !leaving.signal.aborted; index += 1) {
        while (running + done.length >= window) await changed();
        if (leaving.signal.aborted) return;
        const next = await source.next();
        if (next.done === true) break;
        void run(index, next.value);
      }
    } catch (error) {
      sourceFailure = { error };
    } finally {
      sourceEnded = true;
      wake();
    }
  }

  void read();
  try {
    for (;;) {
      const next = done.shift();
      if (next !== undefined) {
        wake();
        yield next;
      } else if (sourceEnded && running === 0) {
        break;
      } else {
        await changed();
      }
    }
    if (sourceFailure !== undefined) throw sourceFailure.error;
  } finally {
    leaving.abort(new Error('the loop over the results was left'));
    wake();
    if (!sourceEnded) void Promise.resolve(source.return?.()).catch(() => {});
  }
}

function iteratorOf(requests: Requests): Iterator<EvaluationRequest> | AsyncIterator<EvaluationRequest> {
  return Symbol.asyncIterator in requests ? requests[Symbol.asyncIterator]() : requests[Symbol.iterator]();
}
