import { type ReactNode, useId, useState } from 'react';
import type { PlacedProblem } from './problem-place.js';

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly problems: readonly PlacedProblem[];
}

/** What a control of a field needs to be named and described. */
interface FieldIds {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean;
}

/** A label, a control, a hint and the problems of the control. */
export function FormField({
  label,
  hint,
  problems,
  children,
}: FieldProps & { readonly children: (ids: FieldIds) => ReactNode }) {
  const id = useId();
  const described = [
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(problems.length === 0 ? [] : [`${id}-problems`]),
  ].join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': described === '' ? undefined : described,
        'aria-invalid': problems.some(({ severity }) => severity === 'error'),
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="muted field-hint">
          {hint}
        </p>
      )}
      <ProblemTexts id={`${id}-problems`} problems={problems} />
    </div>
  );
}

interface ProblemTextsProps {
  readonly id?: string;
  readonly problems: readonly PlacedProblem[];
}

/** The texts of problems, where they are. */
export function ProblemTexts({ id, problems }: ProblemTextsProps) {
  if (problems.length === 0) return null;
  return (
    <ul id={id} className="field-problems">
      {problems.map(({ field, message, severity }) => (
        <li key={`${field} ${message}`} className={severity} dir="auto">
          {message}
        </li>
      ))}
    </ul>
  );
}

interface TextInputProps extends FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly isCode?: boolean;
  readonly rows?: number;
}

export function TextInput({ label, hint, problems, value, onChange, isCode = false, rows }: TextInputProps) {
  const common = {
    value,
    dir: isCode ? ('ltr' as const) : ('auto' as const),
    spellCheck: !isCode,
    autoComplete: 'off',
  };
  return (
    <FormField label={label} problems={problems} hint={hint}>
      {(ids) =>
        rows === undefined ? (
          <input
            {...ids}
            {...common}
            type="text"
            className={isCode ? 'code-input' : undefined}
            onChange={(event) => onChange(event.target.value)}
          />
        ) : (
          <textarea {...ids} {...common} rows={rows} onChange={(event) => onChange(event.target.value)} />
        )
      }
    </FormField>
  );
}

interface LinesInputProps extends FieldProps {
  readonly values: readonly string[];
  /** Texts that are known elsewhere. Those that match the last line are offered. */
  readonly suggestions?: readonly string[];
  readonly onChange: (values: readonly string[]) => void;
}

/** A list of texts, one a line. */
export function LinesInput(props: LinesInputProps) {
  const { label, hint, problems, values, suggestions = [], onChange } = props;
  const [typed, setTyped] = useState('');
  // Blank lines are part of what is typed, and not of the list.
  const text = isSameList(linesOf(typed), values) ? typed : values.join('\n');
  const isMultiline = values.some((value) => value.includes('\n'));
  const shownHint = isMultiline ? 'A text has more than one line: edit the list as JSON.' : hint;
  return (
    <FormField label={`${label}, one a line`} problems={problems} hint={shownHint}>
      {(ids) => (
        <>
          <textarea
            {...ids}
            dir="auto"
            rows={Math.min(6, Math.max(1, text.split('\n').length))}
            spellCheck={false}
            disabled={isMultiline}
            value={text}
            onChange={(event) => {
              setTyped(event.target.value);
              onChange(linesOf(event.target.value));
            }}
          />
          {!isMultiline && (
            <Suggestions
              label={label}
              texts={suggestions}
              values={values}
              onChoose={(next) => {
                setTyped(next.join('\n'));
                onChange(next);
              }}
            />
          )}
        </>
      )}
    </FormField>
  );
}

const MAX_SUGGESTIONS = 6;

interface SuggestionsProps {
  readonly label: string;
  readonly texts: readonly string[];
  readonly values: readonly string[];
  readonly onChoose: (values: readonly string[]) => void;
}

/** Buttons that complete the last line, or add another one. */
function Suggestions({ label, texts, values, onChoose }: SuggestionsProps) {
  const last = values.at(-1) ?? '';
  const isUnfinished = last !== '' && !texts.includes(last);
  const typed = isUnfinished ? last.toLowerCase() : '';
  const others = texts.filter((text) => !values.includes(text) && text.toLowerCase().includes(typed));
  if (others.length === 0) return null;
  return (
    <fieldset className="suggestions" aria-label={`Suggestions for ${label.toLowerCase()}`}>
      {others.slice(0, MAX_SUGGESTIONS).map((text) => (
        <button
          key={text}
          type="button"
          dir="auto"
          title={text}
          onClick={() => onChoose([...(isUnfinished ? values.slice(0, -1) : values), text])}
        >
          {text}
        </button>
      ))}
    </fieldset>
  );
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}

interface CheckFieldProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

export function CheckField({ label, checked, onChange }: CheckFieldProps) {
  return (
    <label className="check-field">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      {label}
    </label>
  );
}

interface OneOfFieldProps<T extends string> {
  readonly legend: string;
  readonly value: string;
  /** Triples of a value, its name, and what it means. */
  readonly choices: readonly (readonly [T, ReactNode, string])[];
  readonly problems: readonly PlacedProblem[];
  readonly onChange: (value: T) => void;
}

/** One of a few choices, all of which are visible. */
export function OneOfField<T extends string>(props: OneOfFieldProps<T>) {
  const { legend, value, choices, problems, onChange } = props;
  const name = useId();
  return (
    <fieldset className="choice-field">
      <legend>{legend}</legend>
      {choices.map(([choice, text, hint]) => (
        <label key={choice} className="check-field">
          <input type="radio" name={name} checked={value === choice} onChange={() => onChange(choice)} />
          <span>
            {text} <span className="muted">{hint}</span>
          </span>
        </label>
      ))}
      <ProblemTexts problems={problems} />
    </fieldset>
  );
}
