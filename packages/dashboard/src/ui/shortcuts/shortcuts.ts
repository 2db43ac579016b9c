import { useEffect, useLayoutEffect, useRef, useSyncExternalStore } from 'react';
import { KeySequence } from './shortcut-keys.js';

/** A key of the page that is open. */
export interface Shortcut {
  /** As in `KeyboardEvent.key`, or `g` and a letter. */
  readonly keys: string;
  readonly description: string;
}

interface ActiveShortcut extends Shortcut {
  readonly run: () => void;
}

const STORED_AS = 'single-key-shortcuts';
const WIDGETS = 'input, select, textarea, [contenteditable]:not([contenteditable=false]), .cm-editor';
/** Elements that have a use for the space bar and the enter key. */
const PRESSABLE = 'a, button, summary, [role=button], [role=tab], [role=option], [role=menuitem]';

let active: readonly ActiveShortcut[] = [];
const watchers = new Set<() => void>();

function publish(next: readonly ActiveShortcut[]): void {
  active = next;
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Offers a shortcut while a component is shown. That of the latest component applies. */
export function useShortcut(keys: string, description: string, run: () => void): void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  // A shortcut works as soon as its component is seen: other effects run after that.
  useLayoutEffect(() => {
    const shortcut = { keys, description, run: () => latest.current() };
    publish([shortcut, ...active]);
    return () => publish(active.filter((one) => one !== shortcut));
  }, [keys, description]);
}

/** The shortcuts that work at present. */
export function useActiveShortcuts(): readonly Shortcut[] {
  return useSyncExternalStore(watch, () => active);
}

/** Whether single keys are shortcuts. People who speak their input or press keys by accident turn them off. */
export function areShortcutsOn(): boolean {
  return localStorage.getItem(STORED_AS) !== 'off';
}

export function useShortcutsSwitch(): readonly [boolean, (isOn: boolean) => void] {
  const isOn = useSyncExternalStore(watch, areShortcutsOn);
  const set = (next: boolean): void => {
    if (next) localStorage.removeItem(STORED_AS);
    else localStorage.setItem(STORED_AS, 'off');
    for (const watcher of watchers) watcher();
  };
  return [isOn, set];
}

/** Runs the shortcuts of single keys. Returns what ends it. */
export function listenForShortcuts(): () => void {
  const sequence = new KeySequence();
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing || !areShortcutsOn() || isMeantForWidget(event)) return;
    const now = performance.now();
    const keys = sequence.press(event, now);
    if (keys === undefined) return;
    const shortcut = active.find((one) => one.keys === keys);
    const element = shortcut === undefined ? marked(keys) : undefined;
    if (shortcut === undefined && element === undefined) {
      sequence.meantNothing(event, now);
      return;
    }
    event.preventDefault();
    if (shortcut !== undefined) shortcut.run();
    else element?.click();
  };
  document.addEventListener('keydown', onKeyDown);
  return () => document.removeEventListener('keydown', onKeyDown);
}

/** The element of the page that a key activates, for example the link for editing. */
function marked(keys: string): HTMLElement | undefined {
  const elements = document.querySelectorAll<HTMLElement>(`[data-shortcut="${CSS.escape(keys)}"]`);
  return [...elements].find((element) => element.checkVisibility() && !element.matches(':disabled'));
}

function isMeantForWidget({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false;
  if (document.querySelector('dialog[open]') !== null) return true;
  // A field in a dialog that was just closed keeps the focus until the page is drawn.
  if (target.closest(WIDGETS)?.checkVisibility() === true) return true;
  return (key === ' ' || key === 'Enter') && target.closest(PRESSABLE) !== null;
}
