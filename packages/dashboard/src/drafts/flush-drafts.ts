const waiting = new Set<() => Promise<unknown>>();

/** Has a write done at once when the page is about to go. Returns what takes it back. */
export function whenFlushed(write: () => Promise<unknown>): () => void {
  waiting.add(write);
  return () => waiting.delete(write);
}

/** Writes what waits to be written. */
export async function flushDrafts(): Promise<void> {
  await Promise.allSettled([...waiting].map((write) => write()));
}

// The last moment at which a page that is closed, or a tab that is put away, can be counted on.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') void flushDrafts();
});
window.addEventListener('pagehide', () => void flushDrafts());
