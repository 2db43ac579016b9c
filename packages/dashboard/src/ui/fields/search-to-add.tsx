import { type FormEvent, useState } from 'react';
import type { Change } from '../confirm-button.js';
import { Problem } from '../states.js';
import { type Options, SelectField, TextField } from './fields.js';

/** A search by a part of a name. */
export interface NameSearch {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly error: unknown;
}

interface SearchToAddProps {
  /** What is added, for example `control`. */
  readonly what: string;
  readonly search: NameSearch;
  /** What was found and can be added. */
  readonly found: Options;
  readonly change: Pick<Change, 'error' | 'isPending'>;
  readonly onAdd: (value: string) => Promise<unknown>;
}

/** Selects something by a part of its name and adds it. */
export function SearchToAdd({ what, search, found, change, onAdd }: SearchToAddProps) {
  const article = /^[aeiou]/.test(what) ? 'an' : 'a';
  const [chosen, setChosen] = useState('');
  const selected = found.some(([value]) => value === chosen) ? chosen : (found[0]?.[0] ?? '');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (selected === '') return;
    onAdd(selected).then(
      () => setChosen(''),
      () => undefined,
    );
  };
  return (
    <form className="filters" onSubmit={submit} aria-label={`Add ${article} ${what}`}>
      <TextField
        label={`Find ${article} ${what}`}
        type="search"
        value={search.text}
        onChange={search.setText}
      />
      <SelectField
        label={`${what[0]?.toUpperCase()}${what.slice(1)} to add`}
        value={selected}
        options={found.length === 0 ? [['', 'none found']] : found}
        onChange={setChosen}
      />
      <button type="submit" disabled={change.isPending || selected === ''}>
        Add
      </button>
      <Problem error={change.error ?? search.error} />
    </form>
  );
}
