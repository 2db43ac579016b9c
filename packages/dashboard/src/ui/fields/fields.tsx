import { type ReactNode, useId } from 'react';

interface LabelledProps {
  readonly label: string;
  readonly children: (id: string) => ReactNode;
}

/** A label above its control, which gets its id. */
export function Labelled({ label, children }: LabelledProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Pairs of a value and its text. */
export type Options = readonly (readonly [value: string, text: string])[];

function optionElements(options: Options) {
  return options.map(([option, text]) => (
    <option key={option} value={option}>
      {text}
    </option>
  ));
}

export function SelectField({ label, options, ...field }: FieldProps & { readonly options: Options }) {
  return (
    <Labelled label={label}>
      {(id) => (
        <select id={id} value={field.value} onChange={({ target }) => field.onChange(target.value)}>
          {optionElements(options)}
        </select>
      )}
    </Labelled>
  );
}

interface TextFieldProps extends FieldProps {
  readonly type?: 'text' | 'search';
  readonly placeholder?: string;
}

export function TextField({ label, type = 'text', onChange, ...field }: TextFieldProps) {
  return (
    <Labelled label={label}>
      {(id) => <input {...field} id={id} type={type} onChange={({ target }) => onChange(target.value)} />}
    </Labelled>
  );
}

interface SuggestFieldProps extends FieldProps {
  readonly suggestions: Options;
  readonly required?: boolean;
}

/** A field for any text, with suggestions of the browser. */
export function SuggestField({ label, suggestions, onChange, ...field }: SuggestFieldProps) {
  return (
    <Labelled label={label}>
      {(id) => (
        <>
          <input
            {...field}
            id={id}
            list={`${id}-list`}
            autoComplete="off"
            onChange={({ target }) => onChange(target.value)}
          />
          <datalist id={`${id}-list`}>{optionElements(suggestions)}</datalist>
        </>
      )}
    </Labelled>
  );
}
