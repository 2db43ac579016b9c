import type { JsonObject } from '@bufbuild/protobuf';
import { IconX } from '@tabler/icons-react';
import { type KeyboardEvent, useId, useState } from 'react';
import { ownMember, withOwnMember, withRenamed } from '../code/json-members.js';
import { useForms } from './field-context.js';
import type { FieldProblem } from './field-problems.js';
import type { ObjectForm } from './form.js';
import { formOf } from './form-of.js';
import { initialValue, otherSchema } from './form-values.js';
import { useItemKeys } from './use-item-keys.js';

interface OtherMembersProps {
  readonly form: ObjectForm;
  readonly label: string;
  readonly value: JsonObject;
  /** Names of the members that the form does not list. */
  readonly names: readonly string[];
  readonly problems: ReadonlyMap<string, readonly FieldProblem[]>;
  readonly onChange: (value: JsonObject) => void;
}

/** Members whose names are free: the entries of a map, and members that the schema does not describe. */
export function OtherMembers({ form, label, value, names, problems, onChange }: OtherMembersProps) {
  const { root, Field } = useForms();
  const keys = useItemKeys(names.length);
  if (names.length === 0 && !form.isOpen) return null;
  const memberForm = formOf(root, otherSchema(form));
  return (
    <div className="schema-map">
      {form.members.length > 0 && <p className="muted">Other members</p>}
      {names.map((name, index) => (
        <div key={keys.current[index]} className="schema-entry">
          <NameField
            name={name}
            of={label}
            isTaken={(other) => Object.hasOwn(value, other)}
            onRename={(to) => {
              const renamed = withRenamed(value, name, to);
              if (renamed !== null) onChange(renamed);
            }}
          />
          <Field
            form={memberForm}
            label={name}
            value={ownMember(value, name)}
            onChange={(next) => onChange(withOwnMember(value, name, next ?? null))}
            problems={problems.get(name) ?? []}
            isRequired={false}
            isCompact
          />
          <button
            type="button"
            className="icon quiet"
            aria-label={`Remove ${name}`}
            onClick={() => onChange(withOwnMember(value, name, undefined))}
          >
            <IconX size={16} />
          </button>
        </div>
      ))}
      {form.isOpen && (
        <NewMember
          of={label}
          isTaken={(name) => Object.hasOwn(value, name)}
          onAdd={(name) => onChange(withOwnMember(value, name, initialValue(root, memberForm)))}
        />
      )}
    </div>
  );
}

interface NameFieldProps {
  readonly name: string;
  readonly of: string;
  readonly isTaken: (name: string) => boolean;
  readonly onRename: (name: string) => void;
}

/** The name of an entry. A name that another entry has stays in the field until it differs. */
function NameField({ name, of, isTaken, onRename }: NameFieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const problemId = useId();
  const text = typed ?? name;
  const isWrong = text !== name && (isTaken(text) || text === '');
  return (
    <div className="schema-entry-name">
      <input
        type="text"
        aria-label={`Name of ${name} in ${of}`}
        aria-invalid={isWrong}
        aria-describedby={isWrong ? problemId : undefined}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          const next = event.target.value;
          const isKept = next === '' || (next !== name && isTaken(next));
          setTyped(isKept ? next : null);
          if (!isKept) onRename(next);
        }}
        onBlur={() => setTyped(null)}
      />
      {isWrong && (
        <p id={problemId} className="problem">
          {text === '' ? 'A name is needed.' : 'This name is already there.'}
        </p>
      )}
    </div>
  );
}

interface NewMemberProps {
  readonly of: string;
  readonly isTaken: (name: string) => boolean;
  readonly onAdd: (name: string) => void;
}

function NewMember({ of, isTaken, onAdd }: NewMemberProps) {
  const [name, setName] = useState('');
  const canAdd = name !== '' && !isTaken(name);
  const add = (): void => {
    if (!canAdd) return;
    onAdd(name);
    setName('');
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
    event.preventDefault();
    add();
  };
  return (
    <div className="schema-entry new">
      <input
        type="text"
        aria-label={`New name in ${of}`}
        placeholder="new name"
        autoComplete="off"
        spellCheck={false}
        value={name}
        onChange={(event) => setName(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="button" disabled={!canAdd} onClick={add}>
        Add to <bdi>{of}</bdi>
      </button>
      {name !== '' && !canAdd && <span className="problem">This name is already there.</span>}
    </div>
  );
}
