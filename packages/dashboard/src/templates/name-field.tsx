import { useId } from 'react';

interface NameFieldProps {
  readonly value: string;
  readonly onChange: (name: string) => void;
  readonly problem: string | undefined;
}

/** The name of a new control. */
export function NameField({ value, onChange, problem }: NameFieldProps) {
  const id = useId();
  const described = [`${id}-hint`, ...(problem === undefined ? [] : [`${id}-problem`])].join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>Name of the control</label>
      <input
        id={id}
        type="text"
        autoComplete="off"
        spellCheck={false}
        aria-required="true"
        aria-invalid={problem !== undefined}
        aria-describedby={described}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <span id={`${id}-hint`} className="muted">
        Letters, digits, “_” and “-”.
      </span>
      {problem !== undefined && (
        <span id={`${id}-problem`} className="problem" role="alert">
          {problem}
        </span>
      )}
    </div>
  );
}
