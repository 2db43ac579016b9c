/**
 * The values of `source` until the signal is aborted; then it fails with the reason of the signal, also while it waits
 * for a value. Either way the source is told that no more is wanted.
 */
export async function* untilAborted<Value>(
  source: AsyncIterable<Value>,
  signal: AbortSignal,
): AsyncGenerator<Value> {
  const values = source[Symbol.asyncIterator]();
  // Made anew for each value: what races against a promise is kept by it until it is settled, which for a stream that
  // lasts for days would be one more thing for every value.
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
    // Not waited for: a generator that hangs in a wait of its own would keep the caller waiting too.
    if (!finished) void Promise.resolve(values.return?.()).catch(() => {});
  }
}
