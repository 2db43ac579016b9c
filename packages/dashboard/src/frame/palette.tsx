import {
  type KeyboardEvent,
  lazy,
  Suspense,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import './palette.css';
import { PALETTE_KEYS, type PaletteKey } from './palette-items.js';

const PaletteResults = lazy(() => import('./palette-results.js'));

interface PaletteProps {
  readonly onClose: () => void;
  readonly onShortcuts: () => void;
}

/**
 * Finds pages, agents, controls, policies, traces and actions by their names: a combobox in a dialog. The field is there
 * with the key that opens it, before the results are loaded: what one types goes nowhere else.
 */
export function Palette({ onClose, onShortcuts }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [typed, setTyped] = useState('');
  /** Keys since the text was last changed. */
  const [keys, setKeys] = useState<readonly PaletteKey[]>([]);
  /** Number of the selected option; null without one. */
  const [active, setActive] = useState<number | null>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
  }, []);
  useEffect(() => {
    if (active !== null) document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, active]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const key = PALETTE_KEYS.find((one) => one === event.key);
    if (key === undefined || event.nativeEvent.isComposing) return;
    event.preventDefault();
    setKeys((before) => [...before, key]);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside the dialog; Escape closes it too
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Search"
      onClose={onClose}
      onClick={({ target }) => target === dialog.current && dialog.current.close()}
    >
      <input
        type="text"
        role="combobox"
        aria-label="Search pages, agents, controls, policies and traces"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={active === null ? undefined : `${id}-${active}`}
        placeholder="Search, or type a trace id"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setKeys([]);
        }}
        onKeyDown={onKeyDown}
      />
      <Suspense fallback={<Empty id={id} />}>
        <PaletteResults
          id={id}
          typed={typed}
          keys={keys}
          onActive={setActive}
          onShortcuts={onShortcuts}
          close={() => dialog.current?.close()}
        />
      </Suspense>
    </dialog>
  );
}

/** The list before its program is loaded. */
function Empty({ id }: { readonly id: string }) {
  return (
    <>
      <div role="listbox" id={`${id}-list`} aria-label="Results" tabIndex={-1} />
      <p className="palette-state muted" role="status">
        Loading…
      </p>
    </>
  );
}
