import type { JsonValue } from '@bufbuild/protobuf';
import { type ReactNode, useId } from 'react';
import { UserText } from '../ui/user-text.js';
import type { FieldProps } from './field-context.js';
import { localProblem } from './field-problems.js';
import { jsonText } from './form-of.js';

/** Attributes of the element that takes the input. */
export interface InputAttributes {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean;
  readonly 'aria-required': boolean;
}

interface FieldFrameProps {
  readonly field: FieldProps;
  /** Beside the label. */
  readonly actions?: ReactNode;
  readonly hint?: string | undefined;
  /** A problem with what was typed, in place of that with the value. */
  readonly problem?: string | null;
  readonly children: (attributes: InputAttributes) => ReactNode;
}

/** Label, description and problems around one input. */
export function FieldFrame({ field, actions, hint, problem, children }: FieldFrameProps) {
  const id = useId();
  const { form, label, problems, isRequired, isCompact = false, value } = field;
  const own = problem ?? localProblem(form, value);
  // The server says the same in its own words.
  const messages = problems.length > 0 ? problems.map(({ message }) => message) : own === null ? [] : [own];
  const isDescribed = !isCompact && (form.description !== undefined || hint !== undefined);
  const described = [
    ...(isDescribed ? [`${id}-description`] : []),
    ...(messages.length > 0 ? [`${id}-problems`] : []),
  ];
  return (
    <div className={`schema-field${isCompact ? ' compact' : ''}`}>
      <div className={isCompact ? 'visually-hidden' : 'schema-field-head'}>
        <label htmlFor={id}>
          <FieldName form={form} label={label} />
          {isRequired && <span className="required"> required</span>}
        </label>
        {!isCompact && actions}
      </div>
      {children({
        id,
        'aria-describedby': described.length === 0 ? undefined : described.join(' '),
        'aria-invalid': messages.length > 0,
        'aria-required': isRequired,
      })}
      {isDescribed && (
        <p id={`${id}-description`} className="schema-description" dir="auto">
          {form.description} {hint}
        </p>
      )}
      <Problems id={`${id}-problems`} messages={messages} />
      {isCompact && actions}
    </div>
  );
}

/** The name of a member: the title of its schema with the name beside it, or the name alone. */
export function FieldName({ form, label }: Pick<FieldProps, 'form' | 'label'>) {
  if (form.title === undefined) return <UserText text={label} max={80} />;
  return (
    <>
      <UserText text={form.title} max={80} />{' '}
      {form.title !== label && (
        <code className="muted">
          <UserText text={label} max={80} />
        </code>
      )}
    </>
  );
}

/** What is wrong, one a line. */
export function Problems({ id, messages }: { readonly id?: string; readonly messages: readonly string[] }) {
  if (messages.length === 0) return null;
  return (
    <ul id={id} className="problem schema-problems">
      {[...new Set(messages)].map((message) => (
        <li key={message} dir="auto">
          {message}
        </li>
      ))}
    </ul>
  );
}

/** What stands in an empty input: the value that counts then, or an example. */
export function placeholderOf({ fallback, example }: FieldProps['form']): string | undefined {
  if (fallback !== undefined && fallback !== null) return `default: ${exampleText(fallback)}`;
  return example === undefined ? undefined : `for example ${exampleText(example)}`;
}

function exampleText(value: JsonValue): string {
  const isTexts = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isTexts ? value.join(', ') : jsonText(value);
}
