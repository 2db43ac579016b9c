import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { ownedItem } from '../browser/owned-storage.js';
import { readViews, type SavedView, writeViews } from './views.js';

const stored = ownedItem('saved-views');
const listeners = new Set<() => void>();

/** The views of the caller in this browser and its namespace, as they change in this tab and in others. */
export function useViews(): readonly [readonly SavedView[], (views: readonly SavedView[]) => void] {
  const text = useSyncExternalStore(subscribe, stored.read, () => null);
  const views = useMemo(() => readViews(text), [text]);
  const store = useCallback((next: readonly SavedView[]) => {
    stored.write(writeViews(next));
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
