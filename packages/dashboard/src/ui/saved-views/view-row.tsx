import { type FormEvent, useState } from 'react';
import { UserText } from '../user-text.js';
import { type SavedView, saveProblem, withDefault, withoutView, withView } from './views.js';

interface ViewRowProps {
  readonly view: SavedView;
  /** All views of this browser. */
  readonly views: readonly SavedView[];
  readonly isShown: boolean;
  readonly onStore: (views: readonly SavedView[]) => void;
  readonly onOpen: () => void;
}

/** A saved view, and what can be done with it. */
export function ViewRow({ view, views, isShown, onStore, onOpen }: ViewRowProps) {
  const [renamed, setRenamed] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const { name, isDefault } = view;
  if (renamed !== undefined) {
    const submit = (event: FormEvent): void => {
      event.preventDefault();
      const next = { ...view, name: renamed.trim() };
      const isTaken =
        next.name !== name && views.some((one) => one.page === view.page && one.name === next.name);
      const reason = isTaken ? 'Another view has this name.' : saveProblem(withoutView(views, view), next);
      setProblem(reason);
      if (reason !== undefined) return;
      onStore(withView(withoutView(views, view), next));
      setRenamed(undefined);
    };
    return (
      <li>
        <form onSubmit={submit} aria-label={`Rename ${name}`}>
          <input
            aria-label="New name"
            value={renamed}
            // biome-ignore lint/a11y/noAutofocus: it replaces what was clicked
            autoFocus
            onChange={({ target }) => setRenamed(target.value)}
          />
          <button type="submit">Rename</button>
          {problem !== undefined && (
            <p className="problem" role="alert">
              {problem}
            </p>
          )}
        </form>
      </li>
    );
  }
  return (
    <li>
      <button type="button" className="view-open" aria-current={isShown} onClick={onOpen}>
        <UserText text={name} max={40} />
      </button>
      <button
        type="button"
        aria-label={isDefault ? `Do not open ${name} by default` : `Open ${name} by default`}
        title={isDefault ? 'Do not open it by default' : 'Open it by default'}
        aria-pressed={isDefault}
        onClick={() => onStore(withDefault(views, view))}
      >
        Default
      </button>
      <button type="button" aria-label={`Rename ${name}`} onClick={() => setRenamed(name)}>
        Rename
      </button>
      <button type="button" aria-label={`Delete ${name}`} onClick={() => onStore(withoutView(views, view))}>
        Delete
      </button>
    </li>
  );
}
