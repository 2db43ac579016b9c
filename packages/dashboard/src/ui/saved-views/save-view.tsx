import { type FormEvent, useState } from 'react';
import { TextField } from '../fields/fields.js';
import { type SavedView, saveProblem, withView } from './views.js';

interface SaveViewProps {
  readonly page: string;
  readonly search: string;
  readonly views: readonly SavedView[];
  readonly onStore: (views: readonly SavedView[]) => void;
}

/** Saves what the page shows under a name. */
export function SaveView({ page, search, views, onStore }: SaveViewProps) {
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string>();
  const trimmed = name.trim();
  const before = views.find((view) => view.page === page && view.name === trimmed);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const view = { page, name: trimmed, search, isDefault: before?.isDefault ?? false };
    const reason = saveProblem(views, view);
    setProblem(reason);
    if (reason !== undefined) return;
    onStore(withView(views, view));
    setName('');
  };
  return (
    <form className="save-view" onSubmit={submit} aria-label="Save this view">
      <TextField label="Save these filters as" value={name} onChange={setName} />
      <button type="submit">{before === undefined ? 'Save' : 'Replace'}</button>
      {problem !== undefined && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
