import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { readViews, type SavedView, writeViews } from './views.js';

const STORED_AS = 'saved-views';
const listeners = new Set<() => void>();

/** The views of this browser, as they change in this tab and in others. */
export function useViews(): readonly [readonly SavedView[], (views: readonly SavedView[]) => void] {
  const text = useSyncExternalStore(subscribe, storedText, () => null);
  const views = useMemo(() => readViews(text), [text]);
  const store = useCallback((next: readonly SavedView[]) => {
    localStorage.setItem(STORED_AS, writeViews(next));
    for (const listener of listeners) listener();
  }, []);
  return [views, store];
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}

function storedText(): string | null {
  return localStorage.getItem(STORED_AS);
}
