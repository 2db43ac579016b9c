/** Who is to be told about which signal. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when the signal is aborted; returns what cancels that. All callbacks of a signal share one listener:
 * a signal often covers thousands of evaluations, and Node.js warns of a leak at the eleventh listener.
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
