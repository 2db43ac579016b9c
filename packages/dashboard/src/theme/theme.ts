import { useState } from 'react';

export type Theme = 'light' | 'dark';

const STORED_AS = 'theme';

function storedTheme(): Theme | undefined {
  const stored = localStorage.getItem(STORED_AS);
  return stored === 'light' || stored === 'dark' ? stored : undefined;
}

function preferredTheme(): Theme {
  return window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** Applies the theme chosen earlier; without a choice, that of the system applies. */
export function applyStoredTheme(): void {
  const theme = storedTheme();
  if (theme !== undefined) document.documentElement.dataset.theme = theme;
}

/** The theme, and a function that changes it to the other one. */
export function useTheme(): readonly [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(() => storedTheme() ?? preferredTheme());
  const toggle = () => {
    const next = theme === 'light' ? 'dark' : 'light';
    localStorage.setItem(STORED_AS, next);
    document.documentElement.dataset.theme = next;
    setTheme(next);
  };
  return [theme, toggle];
}
