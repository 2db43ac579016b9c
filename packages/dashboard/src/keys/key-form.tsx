import type { Role } from '@gen/enforcement/v1/key_service_pb.js';
import { useId } from 'react';
import { scopeWords } from '../session/scope-words.js';
import { useMay } from '../session/session-context.js';
import { Labelled, SelectField, TextField } from '../ui/fields/fields.js';
import { canGive, type KeyDraft, LIFETIMES, OWN_SCOPES } from './key-draft.js';
import './keys.css';

interface KeyFormProps {
  readonly draft: KeyDraft;
  readonly onChange: (draft: KeyDraft) => void;
  readonly roles: readonly Role[];
  /** All scopes. */
  readonly scopes: readonly string[];
  /** Those of the caller. */
  readonly own: ReadonlySet<string> | 'all';
}

/** The fields of a new key. */
export function KeyForm({ draft, onChange, roles, scopes, own }: KeyFormProps) {
  const mayChooseNamespace = useMay('namespaces.write');
  const set = (part: Partial<KeyDraft>) => onChange({ ...draft, ...part });
  return (
    <>
      <TextField
        label="Name"
        placeholder="billing service"
        value={draft.name}
        onChange={(name) => set({ name })}
      />
      <TextField
        label="Owner: who is responsible for it"
        placeholder="team or address"
        value={draft.owner}
        onChange={(owner) => set({ owner })}
      />
      <RoleChoice draft={draft} roles={roles} own={own} onChange={(role) => set({ role })} />
      {draft.role === OWN_SCOPES && (
        <ScopeChoice
          chosen={draft.scopes}
          scopes={scopes.filter((scope) => own === 'all' || own.has(scope))}
          onChange={(chosen) => set({ scopes: chosen })}
        />
      )}
      <Labelled label="Agents that it is limited to: names, or patterns with one “*”. Empty for all">
        {(id) => (
          <textarea
            id={id}
            rows={2}
            dir="auto"
            value={draft.agents}
            onChange={({ target }) => set({ agents: target.value })}
          />
        )}
      </Labelled>
      <div className="filters">
        <SelectField
          label="Valid"
          options={LIFETIMES}
          value={draft.lifetime}
          onChange={(lifetime) => set({ lifetime })}
        />
        {draft.lifetime === 'date' && (
          <Labelled label="Last day">
            {(id) => (
              <input
                id={id}
                type="date"
                value={draft.day}
                onChange={({ target }) => set({ day: target.value })}
              />
            )}
          </Labelled>
        )}
      </div>
      {mayChooseNamespace && (
        <TextField
          label="Namespace of the key"
          value={draft.namespace}
          onChange={(namespace) => set({ namespace })}
        />
      )}
    </>
  );
}

interface RoleChoiceProps {
  readonly draft: KeyDraft;
  readonly roles: readonly Role[];
  readonly own: ReadonlySet<string> | 'all';
  readonly onChange: (role: string) => void;
}

function RoleChoice({ draft, roles, own, onChange }: RoleChoiceProps) {
  const id = useId();
  return (
    <fieldset>
      <legend>What it can do</legend>
      {roles.map((role) => {
        const isGiven = canGive(role, own);
        return (
          <div key={role.name} className="choice">
            <input
              type="radio"
              className="check"
              id={`${id}-${role.name}`}
              name={id}
              value={role.name}
              checked={draft.role === role.name}
              disabled={!isGiven}
              aria-describedby={`${id}-${role.name}-about`}
              onChange={() => onChange(role.name)}
            />
            <label htmlFor={`${id}-${role.name}`}>{role.name}</label>
            <span className="muted" id={`${id}-${role.name}-about`}>
              {role.description}
              {!isGiven && ' It can do more than you, so you cannot give it.'}
            </span>
          </div>
        );
      })}
      <div className="choice">
        <input
          type="radio"
          className="check"
          id={`${id}-own`}
          name={id}
          checked={draft.role === OWN_SCOPES}
          onChange={() => onChange(OWN_SCOPES)}
        />
        <label htmlFor={`${id}-own`}>scopes of its own</label>
      </div>
    </fieldset>
  );
}

interface ScopeChoiceProps {
  readonly chosen: ReadonlySet<string>;
  readonly scopes: readonly string[];
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}

function ScopeChoice({ chosen, scopes, onChange }: ScopeChoiceProps) {
  const id = useId();
  return (
    <fieldset>
      <legend>Scopes</legend>
      {scopes.map((scope) => (
        <div key={scope} className="choice">
          <input
            type="checkbox"
            className="check"
            id={`${id}-${scope}`}
            checked={chosen.has(scope)}
            onChange={({ target }) => {
              const next = new Set(chosen);
              if (target.checked) next.add(scope);
              else next.delete(scope);
              onChange(next);
            }}
          />
          <label htmlFor={`${id}-${scope}`}>
            {scopeWords(scope)} <code className="muted">{scope}</code>
          </label>
        </div>
      ))}
    </fieldset>
  );
}
