import { useId } from 'react';

interface SuggestFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Pairs of a value and what it means. */
  readonly suggestions: readonly (readonly [value: string, text: string])[];
  readonly required?: boolean;
}

/** A field for any text, with suggestions of the browser. */
export function SuggestField({ label, value, onChange, suggestions, required = false }: SuggestFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        list={`${id}-list`}
        autoComplete="off"
        required={required}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={`${id}-list`}>
        {suggestions.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </datalist>
    </div>
  );
}
