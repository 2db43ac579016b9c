import { ChoiceField } from './choice-field.js';
import { type FieldProps, useForms } from './field-context.js';
import { FieldFrame } from './field-frame.js';
import { canShow, initialValue } from './form-values.js';
import { JsonField } from './json-field.js';
import { ListField } from './list-field.js';
import { ObjectField } from './object-field.js';
import { BooleanField, EnumField, NumberField, TextField } from './scalar-fields.js';

/** The field of any form. A value that the form cannot show is JSON text. */
export function Field(field: FieldProps) {
  const { form, value, isRequired } = field;
  if (form.kind === 'json') return <JsonField {...field} />;
  if (value === null && form.isNullable) return <NullField {...field} />;
  if (form.kind !== 'choice' && form.kind !== 'enum' && !canShow(form, value)) {
    return <JsonField {...field} />;
  }
  const offersNull = form.isNullable && (isRequired || (form.fallback ?? null) !== null);
  if (!offersNull) return <FieldOfKind {...field} />;
  return (
    <div className="schema-nullable">
      <FieldOfKind {...field} />
      <button type="button" className="quiet" onClick={() => field.onChange(null)}>
        Set <bdi>{field.label}</bdi> to null
      </button>
    </div>
  );
}

function FieldOfKind({ form, ...field }: FieldProps) {
  switch (form.kind) {
    case 'text':
      return <TextField {...field} form={form} />;
    case 'number':
      return <NumberField {...field} form={form} />;
    case 'boolean':
      return <BooleanField {...field} form={form} />;
    case 'enum':
      return <EnumField {...field} form={form} />;
    case 'list':
      return <ListField {...field} form={form} />;
    case 'object':
      return <ObjectField {...field} form={form} />;
    case 'choice':
      return <ChoiceField {...field} form={form} />;
    case 'json':
      return <JsonField {...field} form={form} />;
  }
}

/** A member that is there and null. */
function NullField(field: FieldProps) {
  const { root } = useForms();
  const { form, onChange, isRequired, isCompact = false, label } = field;
  const isNeeded = isRequired || isCompact || (form.fallback ?? null) !== null;
  return (
    <FieldFrame
      field={field}
      actions={
        <button
          type="button"
          className="quiet"
          onClick={() => onChange(isNeeded ? initialValue(root, { ...form, isNullable: false }) : undefined)}
        >
          {isNeeded ? 'Set' : 'Leave out'} <bdi>{label}</bdi>
        </button>
      }
    >
      {(attributes) => <input {...attributes} type="text" readOnly value="null" />}
    </FieldFrame>
  );
}
