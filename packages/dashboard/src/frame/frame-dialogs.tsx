import { lazy, Suspense, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { GO_LETTERS } from '../shared/shortcut-keys.js';
import { listenForShortcuts, useShortcut } from '../shared/shortcuts.js';
import { IS_MAC } from './command-key.js';
import { PAGES } from './pages.js';

const Palette = lazy(() => import('./palette.js'));
const ShortcutsDialog = lazy(() => import('./shortcuts-dialog.js'));

type Dialog = 'palette' | 'shortcuts' | null;

/** The dialogs of the frame, and what opens them. */
export function useFrameDialogs() {
  const [dialog, setDialog] = useState<Dialog>(null);
  const [, open] = useLocation();
  useEffect(() => listenForShortcuts(), []);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const isCommand = IS_MAC ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
      if (!isCommand || event.altKey || event.shiftKey || event.key.toLowerCase() !== 'k') return;
      if (event.defaultPrevented) return;
      // Chromium has the same keys for its own search.
      event.preventDefault();
      if (document.querySelector('dialog[open]') === null) setDialog('palette');
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
  useShortcut('?', 'Show these shortcuts', () => setDialog('shortcuts'));
  useShortcut('/', 'Go to the first filter', focusFilter);
  // A dialog may have opened another one before it was closed.
  const closed = (which: Dialog) => setDialog((before) => (before === which ? null : before));
  const dialogs = (
    <>
      {PAGES.map(({ path, name }) => {
        const letter = GO_LETTERS[path];
        return letter === undefined ? null : (
          <GoTo key={path} name={name} letter={letter} onGo={() => open(path)} />
        );
      })}
      <Suspense>
        {dialog === 'palette' && (
          <Palette onClose={() => closed('palette')} onShortcuts={() => setDialog('shortcuts')} />
        )}
        {dialog === 'shortcuts' && <ShortcutsDialog onClose={() => closed('shortcuts')} />}
      </Suspense>
    </>
  );
  return {
    dialogs,
    openPalette: () => setDialog('palette'),
    openShortcuts: () => setDialog('shortcuts'),
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
