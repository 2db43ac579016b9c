import { type ClipboardEvent, useState } from 'react';
import { isSameJson } from '../code/json-members.js';
import type { FieldProps } from './field-context.js';
import { FieldFrame, placeholderOf } from './field-frame.js';
import type { BooleanForm, EnumForm, NumberForm, TextForm } from './form.js';
import { jsonText } from './form-of.js';
import { numberFromText } from './form-values.js';

/** A text: one line, or several where the schema or the value wants them. */
export function StringField(field: FieldProps<TextForm>) {
  const { form, value, onChange, isRequired, isCompact = false } = field;
  const text = typeof value === 'string' ? value : '';
  const [wantsLines, setWantsLines] = useState(false);
  const isMultiline = form.isMultiline || wantsLines || text.includes('\n');
  const change = (next: string) => onChange(next === '' && !isRequired && !isCompact ? undefined : next);
  const onPaste = (event: ClipboardEvent<HTMLInputElement>): void => {
    const pasted = event.clipboardData.getData('text/plain');
    if (isCompact || !/[\r\n]/.test(pasted.trim())) return;
    // A field with one line would drop the others.
    event.preventDefault();
    const { selectionStart, selectionEnd } = event.currentTarget;
    setWantsLines(true);
    change(`${text.slice(0, selectionStart ?? 0)}${pasted}${text.slice(selectionEnd ?? text.length)}`);
  };
  const toggle = !isCompact && !form.isMultiline && (
    <button
      type="button"
      className="quiet"
      aria-pressed={isMultiline}
      disabled={text.includes('\n')}
      onClick={() => setWantsLines(!wantsLines)}
    >
      Several lines
    </button>
  );
  return (
    <FieldFrame field={field} actions={toggle} hint={textHint(form)}>
      {(attributes) =>
        isMultiline && !isCompact ? (
          <textarea
            {...attributes}
            rows={3}
            spellCheck={false}
            value={text}
            placeholder={placeholderOf(form)}
            onChange={(event) => change(event.target.value)}
          />
        ) : (
          <input
            {...attributes}
            className="schema-text"
            type="text"
            autoComplete="off"
            spellCheck={false}
            value={text}
            placeholder={placeholderOf(form)}
            onPaste={onPaste}
            onChange={(event) => change(event.target.value)}
          />
        )
      }
    </FieldFrame>
  );
}

function textHint({ pattern, format }: TextForm): string | undefined {
  const hints = [
    ...(format === undefined ? [] : [`Format: ${format}.`]),
    ...(pattern === undefined ? [] : [`Pattern: ${pattern}`]),
  ];
  return hints.length === 0 ? undefined : hints.join(' ');
}

/** A number. What is not one yet, such as `-`, is kept as typed and told as a problem. */
export function NumberField(field: FieldProps<NumberForm>) {
  const { form, value, onChange, isCompact = false } = field;
  const [typed, setTyped] = useState('');
  // `1.0` and `1` are the same number: what was typed stays.
  const isTyped = isSameJson(numberFromText(typed), value);
  const text = isTyped ? typed : typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  const change = (next: string): void => {
    setTyped(next);
    onChange(numberFromText(next) ?? (isCompact ? '' : undefined));
  };
  return (
    <FieldFrame field={field} hint={boundsHint(form)}>
      {(attributes) => (
        <input
          {...attributes}
          className="schema-number"
          type="text"
          inputMode="decimal"
          autoComplete="off"
          value={text}
          placeholder={placeholderOf(form)}
          onChange={(event) => change(event.target.value)}
        />
      )}
    </FieldFrame>
  );
}

function boundsHint(form: NumberForm): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = form;
  const isBound = (bound: number | undefined): bound is number =>
    // Schemas state the range of exact numbers where there is no bound.
    bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
  const hints = [
    ...(isBound(minimum) ? [`at least ${minimum}`] : []),
    ...(isBound(exclusiveMinimum) ? [`more than ${exclusiveMinimum}`] : []),
    ...(isBound(maximum) ? [`at most ${maximum}`] : []),
    ...(isBound(exclusiveMaximum) ? [`less than ${exclusiveMaximum}`] : []),
  ];
  const text = hints.join(', ');
  return text === '' ? undefined : `${text[0]?.toUpperCase()}${text.slice(1)}.`;
}

/** Yes or no. A member that may be left out can also be neither. */
export function BooleanField(field: FieldProps<BooleanForm>) {
  const options = [
    { value: true, text: 'yes' },
    { value: false, text: 'no' },
  ];
  return <OptionField field={field} options={options} />;
}

/** One of a few values. */
export function EnumField(field: FieldProps<EnumForm>) {
  return <OptionField field={field} options={field.form.options} />;
}

interface OptionFieldProps {
  readonly field: FieldProps;
  readonly options: EnumForm['options'];
}

function OptionField({ field, options }: OptionFieldProps) {
  const { form, value, onChange, isRequired, isCompact = false } = field;
  const chosen = options.findIndex((option) => isSameJson(option.value, value));
  const isOther = value !== undefined && chosen === -1;
  return (
    <FieldFrame field={field}>
      {(attributes) => (
        <select
          {...attributes}
          value={isOther ? 'other' : chosen === -1 ? '' : String(chosen)}
          onChange={(event) => onChange(options[Number(event.target.value || -1)]?.value)}
        >
          {(!isCompact && !isRequired) || value === undefined ? (
            <option value="">{unsetText(form, options, isRequired)}</option>
          ) : null}
          {options.map((option, index) => (
            <option key={jsonText(option.value)} value={index}>
              {option.text}
            </option>
          ))}
          {isOther && <option value="other">{jsonText(value)} (not in the list)</option>}
        </select>
      )}
    </FieldFrame>
  );
}

function unsetText(form: FieldProps['form'], options: EnumForm['options'], isRequired: boolean): string {
  const { fallback } = form;
  if (fallback === undefined || fallback === null) return isRequired ? 'choose…' : 'not set';
  const text = options.find((option) => isSameJson(option.value, fallback))?.text ?? jsonText(fallback);
  return `not set (default: ${text})`;
}
