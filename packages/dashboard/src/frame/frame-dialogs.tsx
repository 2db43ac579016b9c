import { lazy, Suspense, useCallback, useLayoutEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { GO_LETTERS } from '../ui/shortcuts/shortcut-keys.js';
import { listenForShortcuts, useShortcut } from '../ui/shortcuts/shortcuts.js';
import { IS_MAC } from './command-key.js';
import { usePages } from './pages.js';
import { Palette } from './palette.js';

const ShortcutsDialog = lazy(() => import('./shortcuts-dialog.js'));

/** An open dialog. Each opening is a new one: the end of a dialog is reported later than it closes. */
interface OpenDialog {
  readonly name: 'palette' | 'shortcuts';
  readonly opening: number;
}

let openings = 0;

/** The dialogs of the frame, and what opens them. */
export function useFrameDialogs() {
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const show = useCallback((name: OpenDialog['name']) => {
    openings += 1;
    setDialog({ name, opening: openings });
  }, []);
  const [, open] = useLocation();
  const pages = usePages();
  // Before the page is seen: a key that is pressed then counts.
  useLayoutEffect(() => listenForShortcuts(), []);
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const isCommand = IS_MAC ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
      if (!isCommand || event.altKey || event.shiftKey || event.key.toLowerCase() !== 'k') return;
      if (event.defaultPrevented) return;
      // Chromium has the same keys for its own search.
      event.preventDefault();
      if (document.querySelector('dialog[open]') === null) show('palette');
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [show]);
  useShortcut('?', 'Show these shortcuts', () => show('shortcuts'));
  useShortcut('/', 'Go to the first filter', focusFilter);
  const close = () => setDialog((before) => (before === dialog ? null : before));
  const dialogs = (
    <>
      {pages.map(({ path, name }) => {
        const letter = GO_LETTERS[path];
        return letter === undefined ? null : (
          <GoTo key={path} name={name} letter={letter} onGo={() => open(path)} />
        );
      })}
      {dialog?.name === 'palette' && (
        <Palette key={dialog.opening} onClose={close} onShortcuts={() => show('shortcuts')} />
      )}
      <Suspense>
        {dialog?.name === 'shortcuts' && <ShortcutsDialog key={dialog.opening} onClose={close} />}
      </Suspense>
    </>
  );
  return {
    dialogs,
    openPalette: () => show('palette'),
    openShortcuts: () => show('shortcuts'),
  };
}

interface GoToProps {
  readonly name: string;
  readonly letter: string;
  readonly onGo: () => void;
}

function GoTo({ name, letter, onGo }: GoToProps) {
  useShortcut(`g ${letter}`, `Go to ${name}`, onGo);
  return null;
}

function focusFilter(): void {
  document.querySelector<HTMLElement>('main search :is(input, select)')?.focus();
}
