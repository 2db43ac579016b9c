/**
 * The values of `source` until the signal is aborted; then it fails with the reason of the signal, even while
 * it waits for a value. In both cases `return` of the source is called.
 */
export async function* untilAborted<Value>(
  source: AsyncIterable<Value>,
  signal: AbortSignal,
): AsyncGenerator<Value> {
  const values = source[Symbol.asyncIterator]();
  // Created for each value: a promise retains everything that races against it until it settles, which for a
  // stream that lasts for days would be one more object per value.
  let giveUp: ((reason: unknown) => void) | undefined;
  const onAbort = (): void => giveUp?.(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  let finished = false;
  try {
    for (;;) {
      const next = await new Promise<IteratorResult<Value>>((resolve, reject) => {
        giveUp = reject;
        if (signal.aborted) reject(signal.reason);
        else values.next().then(resolve, reject);
      });
      if (next.done === true) {
        finished = true;
        return;
      }
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Not awaited: a generator that hangs would block the caller too.
    if (!finished) void Promise.resolve(values.return?.()).catch(() => {});
  }
}
