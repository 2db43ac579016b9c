import { useMay } from '../session/session-context.js';
import { useSignOut } from '../session/use-sign-out.js';
import { useTheme } from '../theme/theme.js';
import { GO_LETTERS } from '../ui/shortcuts/shortcut-keys.js';
import type { PageLink } from './pages.js';
import type { PaletteItem } from './palette-items.js';

/** The pages of the menu, as choices of the palette. */
export function pageItems(pages: readonly PageLink[]): readonly PaletteItem[] {
  return pages.map(({ path, name }) => ({
    id: `page ${path}`,
    label: name,
    keys: GO_LETTERS[path] === undefined ? undefined : `g ${GO_LETTERS[path]}`,
    action: { href: path },
  }));
}

/** What the palette can do besides opening pages. */
export function usePaletteActions(showShortcuts: () => void): readonly PaletteItem[] {
  const mayChange = useMay('controls.write');
  const [theme, toggleTheme] = useTheme();
  const { leave } = useSignOut();
  const other = theme === 'light' ? 'dark' : 'light';
  return [
    ...(mayChange ? [{ id: 'new control', label: 'New control', action: { href: '/controls/new' } }] : []),
    { id: 'theme', label: `Use the ${other} theme`, action: { run: toggleTheme } },
    { id: 'shortcuts', label: 'Show keyboard shortcuts', keys: '?', action: { run: showShortcuts } },
    ...(leave === undefined ? [] : [{ id: 'leave', label: 'Sign out', action: { run: leave } }]),
  ];
}
