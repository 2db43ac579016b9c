/** Streams woken per turn of the event loop: evaluations must not wait for ten thousand messages. */
const WAKE_BATCH = 8;

/**
 * Wakes the streams that wait for news, a few per turn of the event loop. `wakeSome` wakes at most `batch` of
 * them and returns whether others are left. The returned function starts it.
 */
export function createWakeTurns(wakeSome: (batch: number) => boolean): () => void {
  let isRunning = false;
  const run = (): void => {
    isRunning = wakeSome(WAKE_BATCH);
    if (isRunning) setImmediate(run);
  };
  return () => {
    if (isRunning) return;
    isRunning = true;
    setImmediate(run);
  };
}
