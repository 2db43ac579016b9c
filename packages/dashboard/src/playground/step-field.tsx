import { useId } from 'react';

interface StepFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly problem: string | null;
}

/** A field for a step as JSON. Ctrl+Enter submits its form. */
export function StepField({ value, onChange, problem }: StepFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>Step, as JSON</label>
      <textarea
        id={id}
        rows={14}
        spellCheck={false}
        value={value}
        aria-invalid={problem !== null}
        aria-describedby={problem === null ? undefined : `${id}-problem`}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.currentTarget.form?.requestSubmit();
          }
        }}
      />
      {problem !== null && (
        <p id={`${id}-problem`} className="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
