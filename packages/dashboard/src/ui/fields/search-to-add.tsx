import { type FormEvent, useState } from 'react';
import { errorText } from '../error-text.js';
import { SelectField, TextField } from './fields.js';

interface SearchToAddProps {
  /** What is added, for example `control`. */
  readonly what: string;
  readonly search: string;
  readonly onSearch: (text: string) => void;
  /** Pairs of a value and its text: what can be added. */
  readonly found: readonly (readonly [string, string])[];
  readonly onAdd: (value: string) => Promise<unknown>;
  readonly isPending: boolean;
  readonly error: unknown;
}

/** Selects something by a part of its name and adds it. */
export function SearchToAdd(props: SearchToAddProps) {
  const { what, search, onSearch, found, onAdd, isPending, error } = props;
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
      <TextField label={`Find ${article} ${what}`} type="search" value={search} onChange={onSearch} />
      <SelectField
        label={`${what[0]?.toUpperCase()}${what.slice(1)} to add`}
        value={selected}
        options={found.length === 0 ? [['', 'none found']] : found}
        onChange={setChosen}
      />
      <button type="submit" disabled={isPending || selected === ''}>
        Add
      </button>
      {error ? (
        <p className="problem" role="alert">
          {errorText(error).detail}
        </p>
      ) : null}
    </form>
  );
}
