import { type ReactNode, useId } from 'react';
import type { FieldProps } from './field-context.js';
import { FieldName, Problems, placeholderOf } from './field-frame.js';
import { localProblem } from './field-problems.js';

interface GroupFrameProps {
  readonly field: FieldProps;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** Name, description and problems around several inputs. */
export function GroupFrame({ field, actions, children }: GroupFrameProps) {
  const id = useId();
  const { form, label, problems, value, isRequired, isCompact = false } = field;
  const own = localProblem(form, value);
  const messages = [
    ...(own === null ? [] : [own]),
    ...problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)),
  ];
  const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
  const hint = isEmpty ? placeholderOf(form) : undefined;
  const isDescribed = !isCompact && (form.description !== undefined || hint !== undefined);
  const described = [
    ...(isDescribed ? [`${id}-description`] : []),
    ...(messages.length > 0 ? [`${id}-problems`] : []),
  ];
  return (
    <fieldset
      className={`schema-group${isCompact ? ' compact' : ''}`}
      aria-describedby={described.length === 0 ? undefined : described.join(' ')}
    >
      <legend className={isCompact ? 'visually-hidden' : undefined}>
        <FieldName form={form} label={label} />
        {isRequired && <span className="required"> required</span>}
      </legend>
      {isDescribed && (
        <p id={`${id}-description`} className="schema-description" dir="auto">
          {form.description} {hint !== undefined && <span className="hint">{hint}</span>}
        </p>
      )}
      <Problems id={`${id}-problems`} messages={messages} />
      {children}
      {actions !== undefined && <div className="schema-actions">{actions}</div>}
    </fieldset>
  );
}

interface ClearButtonProps {
  readonly field: FieldProps;
}

/** Leaves out a member that may be left out. */
export function ClearButton({ field }: ClearButtonProps) {
  const { value, onChange, isRequired, isCompact = false, label } = field;
  if (value === undefined || isRequired || isCompact) return null;
  return (
    <button type="button" className="quiet" onClick={() => onChange(undefined)}>
      Leave out <bdi>{label}</bdi>
    </button>
  );
}
