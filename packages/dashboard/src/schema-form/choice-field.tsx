import { useState } from 'react';
import { type FieldProps, useForms } from './field-context.js';
import type { ChoiceForm } from './form.js';
import { formOf } from './form-of.js';
import { canShow, choiceOf, convertedTo } from './form-values.js';
import { GroupFrame } from './group-frame.js';
import { JsonField } from './json-field.js';

/** A value that has one of several forms. */
export function ChoiceField(field: FieldProps<ChoiceForm>) {
  const { root, Field } = useForms();
  const { form, value, onChange, label, isRequired, isCompact = false, problems } = field;
  const [picked, setPicked] = useState<number | null>(null);
  const pickedSchema = picked === null ? undefined : form.choices[picked]?.schema;
  const isPicked = pickedSchema !== undefined && canShow(formOf(root, pickedSchema), value);
  const current = value === undefined ? -1 : isPicked ? (picked ?? -1) : choiceOf(root, form, value);
  const chosen = form.choices[current];
  const isOther = value !== undefined && chosen === undefined;
  const choose = (option: string): void => {
    const index = option === '' ? -1 : Number(option);
    const schema = form.choices[index]?.schema;
    setPicked(schema === undefined ? null : index);
    onChange(schema === undefined ? undefined : convertedTo(root, formOf(root, schema), value));
  };
  const inner = { ...field, isCompact: true };
  const chosenForm = chosen === undefined ? undefined : formOf(root, chosen.schema);
  // An input shows its problems itself.
  const isSplit = chosenForm !== undefined || isOther;
  return (
    <GroupFrame field={isSplit ? { ...field, problems: [] } : field}>
      <div className="schema-choice">
        <select
          aria-label={`Form of ${label}`}
          value={isOther ? 'other' : current === -1 ? '' : String(current)}
          onChange={(event) => choose(event.target.value)}
        >
          {((!isCompact && !isRequired) || value === undefined) && (
            <option value="">{isRequired ? 'choose…' : 'not set'}</option>
          )}
          {form.choices.map((choice, index) => (
            <option key={choice.label} value={index}>
              {choice.label}
            </option>
          ))}
          {isOther && <option value="other">other JSON</option>}
        </select>
        {chosenForm !== undefined && <Field key={current} {...inner} form={chosenForm} problems={problems} />}
        {isOther && <JsonField {...inner} />}
      </div>
    </GroupFrame>
  );
}
