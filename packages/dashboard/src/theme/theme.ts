import { useSyncExternalStore } from 'react';

export type Theme = 'light' | 'dark';

const STORED_AS = 'theme';
const watchers = new Set<() => void>();
const dark = window.matchMedia('(prefers-color-scheme: dark)');

function storedTheme(): Theme | undefined {
  const stored = localStorage.getItem(STORED_AS);
  return stored === 'light' || stored === 'dark' ? stored : undefined;
}

function currentTheme(): Theme {
  return storedTheme() ?? (dark.matches ? 'dark' : 'light');
}

/** Applies the theme chosen earlier; without a choice, that of the system applies. */
export function applyStoredTheme(): void {
  const theme = storedTheme();
  if (theme === undefined) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function watch(watcher: () => void): () => void {
  // Chosen in another tab.
  const onStorage = ({ key }: StorageEvent): void => {
    if (key !== STORED_AS && key !== null) return;
    applyStoredTheme();
    watcher();
  };
  watchers.add(watcher);
  dark.addEventListener('change', watcher);
  window.addEventListener('storage', onStorage);
  return () => {
    watchers.delete(watcher);
    dark.removeEventListener('change', watcher);
    window.removeEventListener('storage', onStorage);
  };
}

function toggle(): void {
  localStorage.setItem(STORED_AS, currentTheme() === 'light' ? 'dark' : 'light');
  applyStoredTheme();
  for (const watcher of watchers) watcher();
}

/** The theme, and a function that changes it to the other one. */
export function useTheme(): readonly [Theme, () => void] {
  return [useSyncExternalStore(watch, currentTheme), toggle];
}
