import { useEffect, useRef } from 'react';

/** Runs actions on Ctrl or ⌘ with a key, wherever the focus is. */
export function useCommandKeys(actions: Readonly<Record<string, () => void>>): void {
  const current = useRef(actions);
  useEffect(() => {
    current.current = actions;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      const action = current.current[event.key];
      // A dialog waits for an answer.
      if (action === undefined || document.querySelector('dialog[open]') !== null) return;
      // Ctrl+S would save the page of the browser, Ctrl+Enter insert a line.
      event.preventDefault();
      event.stopPropagation();
      if (!event.repeat) action();
    };
    window.addEventListener('keydown', onKeyDown, { capture: true });
    return () => window.removeEventListener('keydown', onKeyDown, { capture: true });
  }, []);
}
