/**
 * The values of `source` until the signal is aborted; then it fails with the reason of the signal, also while it waits
 * for a value. Either way the source is told that no more is wanted.
 */
export async function* untilAborted<Value>(
  source: AsyncIterable<Value>,
  signal: AbortSignal,
): AsyncGenerator<Value> {
  const values = source[Symbol.asyncIterator]();
  let abort: (reason: unknown) => void = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = reject;
  });
  // Nobody may be waiting when it happens.
  aborted.catch(() => {});
  const onAbort = (): void => abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  let finished = false;
  try {
    for (;;) {
      const next = await Promise.race([aborted, values.next()]);
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
