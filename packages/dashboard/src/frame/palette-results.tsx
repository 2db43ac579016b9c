import { useEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { errorText } from '../ui/error-text.js';
import { recentPages } from '../ui/page/recent-pages-store.js';
import { UserText } from '../ui/user-text.js';
import { usePages } from './pages.js';
import { matching, type PaletteItem, type PaletteKey, recentItems, withoutRepeats } from './palette-items.js';
import { pageItems, usePaletteActions } from './use-palette-actions.js';
import { usePaletteSearch } from './use-palette-search.js';

const SEARCH_AFTER_MS = 150;

interface PaletteResultsProps {
  readonly id: string;
  readonly typed: string;
  /** Keys since the text was last changed, in the order in which they were pressed. */
  readonly keys: readonly PaletteKey[];
  readonly onActive: (index: number | null) => void;
  readonly onShortcuts: () => void;
  readonly close: () => void;
}

/** What the palette finds for a text. The focus stays in its field, which passes the keys on. */
export default function PaletteResults(props: PaletteResultsProps) {
  const { id, typed, keys, onActive, onShortcuts, close } = props;
  const [, open] = useLocation();
  const text = typed.trim();
  const [selected, setSelected] = useState({ of: text, index: 0 });
  const searched = useDebounced(text, SEARCH_AFTER_MS);
  const search = usePaletteSearch(searched);
  const recent = useMemo(() => recentItems(recentPages()), []);
  const actions = usePaletteActions(onShortcuts);
  const pages = usePages();
  const isSearching = search.isSearching || searched !== text;
  // What was found for an earlier text is chosen only if it fits this one.
  const found = isSearching
    ? search.groups.map(({ name, items }) => ({ name, items: matching(items, text) }))
    : search.groups;
  const groups = withoutRepeats([
    { name: 'Recent', items: matching(recent, text) },
    { name: 'Pages', items: matching(pageItems(pages), text) },
    ...(text === '' ? [] : found),
    { name: 'Actions', items: matching(actions, text) },
  ]);
  const items = groups.flatMap((group) => group.items);
  // Another text has another first choice.
  const at = Math.min(selected.of === text ? selected.index : 0, items.length - 1);

  const choose = ({ action }: PaletteItem): void => {
    close();
    if ('href' in action) open(action.href);
    else action.run();
  };
  const answered = useRef(0);
  const item = items[at];
  useEffect(() => {
    answered.current = Math.min(answered.current, keys.length);
    const key = keys[answered.current];
    // Enter before anything is found waits for the first result.
    if (key === undefined || (key === 'Enter' && item === undefined && isSearching)) return;
    answered.current += 1;
    if (key !== 'Enter') {
      const step = key === 'ArrowDown' ? 1 : items.length - 1;
      setSelected({ of: text, index: (at + step) % Math.max(1, items.length) });
    } else if (item !== undefined) choose(item);
  });
  useEffect(() => onActive(at < 0 ? null : at), [at, onActive]);

  return (
    <>
      <div role="listbox" id={`${id}-list`} aria-label="Results" tabIndex={-1}>
        {groups.map((group) => (
          // biome-ignore lint/a11y/useSemanticElements: options are grouped in a listbox, not fields in a form
          <div key={group.name} role="group" aria-label={group.name}>
            <div className="palette-group" aria-hidden="true">
              {group.name}
            </div>
            {group.items.map((one) => (
              <Option
                key={one.id}
                id={`${id}-${items.indexOf(one)}`}
                item={one}
                isSelected={item === one}
                onChoose={() => choose(one)}
              />
            ))}
          </div>
        ))}
      </div>
      <p className="palette-state muted" role="status">
        {search.error !== undefined && text !== ''
          ? `The search failed: ${errorText(search.error).detail}`
          : stateText(items.length, text, isSearching)}
      </p>
    </>
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
