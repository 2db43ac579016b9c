import { type FormEvent, useState } from 'react';
import type { Change } from '../confirm-button.js';
import { Problem } from '../states.js';
import { TextField } from './fields.js';

interface NameFormProps {
  /** Name of the form. */
  readonly title: string;
  readonly label: string;
  readonly placeholder?: string;
  /** Text of the button. */
  readonly verb: string;
  /** The name that it has now; blank if it has none yet. */
  readonly current?: string;
  readonly change: Pick<Change, 'error' | 'isPending'>;
  readonly onSubmit: (name: string) => void;
}

/** A form for the name of something: it is neither blank nor what it was. */
export function NameForm({ title, verb, current = '', change, onSubmit, ...field }: NameFormProps) {
  const [typed, setTyped] = useState(current);
  const name = typed.trim();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit(name);
  };
  return (
    <form className="filters" onSubmit={submit} aria-label={title}>
      <TextField {...field} value={typed} onChange={setTyped} />
      <button type="submit" disabled={change.isPending || name === '' || name === current}>
        {verb}
      </button>
      <Problem error={change.error} />
    </form>
  );
}
