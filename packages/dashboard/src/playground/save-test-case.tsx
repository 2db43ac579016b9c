import { type FormEvent, useState } from 'react';
import { TextField } from '../ui/fields/fields.js';

interface SaveTestCaseProps {
  /** Proposed for the name. */
  readonly suggestion: string;
  readonly onSave: (name: string) => void;
}

/** Adds the explained step and its verdict to the test cases. */
export function SaveTestCase({ suggestion, onSave }: SaveTestCaseProps) {
  const [name, setName] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSave(name.trim() === '' ? suggestion : name.trim());
    setName('');
  };
  return (
    <form className="filters" onSubmit={submit} aria-label="Save as test case">
      <TextField label="Name of the test case" value={name} onChange={setName} placeholder={suggestion} />
      <button type="submit">Save as test case</button>
    </form>
  );
}
