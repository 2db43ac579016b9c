import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { isJsonObject, ownMember, withOwnMember } from '../code/json-members.js';
import { type FieldProps, useForms } from './field-context.js';
import { splitProblems } from './field-problems.js';
import type { ObjectForm } from './form.js';
import { formOf } from './form-of.js';
import { initialValue } from './form-values.js';
import { ClearButton, GroupFrame } from './group-frame.js';
import { OtherMembers } from './other-members.js';

/**
 * An object: a field for each member of its schema, and its other members. An object that is left out has no fields,
 * so a schema that contains itself is shown as far as the value goes.
 */
export function ObjectField(field: FieldProps<ObjectForm>) {
  const { root, Field } = useForms();
  const { form, value, onChange, label, problems, isRequired } = field;
  if (!isJsonObject(value)) {
    return (
      <GroupFrame
        field={field}
        actions={
          <>
            <button type="button" onClick={() => onChange(initialValue(root, form))}>
              Set <bdi>{label}</bdi>
            </button>
            <span className="muted">{isRequired ? 'missing' : 'not set'}</span>
          </>
        }
      >
        {null}
      </GroupFrame>
    );
  }
  const change = (name: string, member: JsonValue | undefined): void => {
    const next: JsonObject = withOwnMember(value, name, member);
    onChange(next);
  };
  const described = new Set(form.members.map(({ name }) => name));
  const others = Object.keys(value).filter((name) => !described.has(name));
  const { own, of } = splitProblems(problems, [...described, ...others]);
  const clear = <ClearButton field={field} />;
  return (
    <GroupFrame field={{ ...field, problems: own }} actions={clear}>
      {form.members.map(({ name, schema, isRequired: isNeeded }) => (
        <Field
          key={name}
          form={formOf(root, schema)}
          label={name}
          value={ownMember(value, name)}
          onChange={(member) => change(name, member)}
          problems={of.get(name) ?? []}
          isRequired={isNeeded}
        />
      ))}
      <OtherMembers
        form={form}
        label={label}
        value={value}
        names={others}
        problems={of}
        onChange={onChange}
      />
    </GroupFrame>
  );
}
