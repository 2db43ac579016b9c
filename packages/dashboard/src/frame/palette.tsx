import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { errorText } from '../ui/error-text.js';
import { recentPages } from '../ui/page/recent-pages-store.js';
import { UserText } from '../ui/user-text.js';
import './palette.css';
import { matching, type PaletteItem, recentItems, withoutRepeats } from './palette-items.js';
import { pageItems, usePaletteActions } from './use-palette-actions.js';
import { usePaletteSearch } from './use-palette-search.js';

const SEARCH_AFTER_MS = 150;

interface PaletteProps {
  readonly onClose: () => void;
  readonly onShortcuts: () => void;
}

/** Finds pages, agents, controls, policies, traces and actions by their names: a combobox in a dialog. */
export default function Palette({ onClose, onShortcuts }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [, open] = useLocation();
  const [typed, setTyped] = useState('');
  const [selected, setSelected] = useState(0);
  const text = typed.trim();
  const search = usePaletteSearch(useDebounced(text, SEARCH_AFTER_MS));
  const recent = useMemo(() => recentItems(recentPages()), []);
  const actions = usePaletteActions(onShortcuts);
  const groups = withoutRepeats([
    { name: 'Recent', items: matching(recent, text) },
    { name: 'Pages', items: matching(pageItems(), text) },
    ...(text === '' ? [] : search.groups),
    { name: 'Actions', items: matching(actions, text) },
  ]);
  const items = groups.flatMap((group) => group.items);
  const at = Math.min(selected, items.length - 1);
  const optionId = (item: PaletteItem) => `${id}-${items.indexOf(item)}`;

  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, at]);

  const choose = ({ action }: PaletteItem): void => {
    dialog.current?.close();
    if ('href' in action) open(action.href);
    else action.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key } = event;
    const item = items[at];
    if (event.nativeEvent.isComposing) return;
    if (key === 'ArrowDown') setSelected((at + 1) % Math.max(1, items.length));
    else if (key === 'ArrowUp') setSelected((at + items.length - 1) % Math.max(1, items.length));
    else if (key === 'Enter' && item !== undefined) choose(item);
    else return;
    event.preventDefault();
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
        aria-activedescendant={items.length === 0 ? undefined : `${id}-${at}`}
        placeholder="Search, or type a trace id"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setSelected(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={`${id}-list`} aria-label="Results" tabIndex={-1}>
        {groups.map((group) => (
          // biome-ignore lint/a11y/useSemanticElements: options are grouped in a listbox, not fields in a form
          <div key={group.name} role="group" aria-label={group.name}>
            <div className="palette-group" aria-hidden="true">
              {group.name}
            </div>
            {group.items.map((item) => (
              <Option
                key={item.id}
                id={optionId(item)}
                item={item}
                isSelected={items[at] === item}
                onChoose={() => choose(item)}
              />
            ))}
          </div>
        ))}
      </div>
      <p className="palette-state muted" role="status">
        {search.error !== undefined && text !== ''
          ? `The search failed: ${errorText(search.error).detail}`
          : stateText(items.length, text, search.isSearching)}
      </p>
    </dialog>
  );
}

function stateText(count: number, text: string, isSearching: boolean): string {
  if (isSearching) return 'Searching…';
  if (count === 0) return `Nothing is called “${text}”.`;
  return `${count} ${count === 1 ? 'result' : 'results'}. ↑ ↓ to choose, Enter to open, Esc to close.`;
}

interface OptionProps {
  readonly id: string;
  readonly item: PaletteItem;
  readonly isSelected: boolean;
  readonly onChoose: () => void;
}

function Option({ id, item, isSelected, onChoose }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the focus stays in the combobox, which has the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the same
    <div role="option" id={id} aria-selected={isSelected} onClick={onChoose}>
      <UserText text={item.label} />
      {item.keys !== undefined && (
        <span className="keys" aria-hidden="true">
          {item.keys}
        </span>
      )}
    </div>
  );
}
