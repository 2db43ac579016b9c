import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useId } from 'react';
import { useNameSearch } from '../data/use-name-search.js';
import { SelectField, TextField } from '../ui/fields/fields.js';
import { Problem } from '../ui/states.js';

/** The policy that a pack is installed in: a new one by its name, or one that there is. */
export type PolicyChoice =
  | { readonly kind: 'new'; readonly name: string }
  /** 0: none is chosen yet. */
  | { readonly kind: 'existing'; readonly policyId: number };

interface PolicyChoiceFieldProps {
  readonly value: PolicyChoice;
  /** Name that is proposed for a new policy. */
  readonly proposed: string;
  readonly onChange: (value: PolicyChoice) => void;
}

export function PolicyChoiceField({ value, proposed, onChange }: PolicyChoiceFieldProps) {
  const name = useId();
  return (
    <fieldset className="choice-field">
      <legend>Policy</legend>
      <label className="check-field">
        <input
          type="radio"
          name={name}
          checked={value.kind === 'new'}
          onChange={() => onChange({ kind: 'new', name: proposed })}
        />
        A new policy
      </label>
      <label className="check-field">
        <input
          type="radio"
          name={name}
          checked={value.kind === 'existing'}
          onChange={() => onChange({ kind: 'existing', policyId: 0 })}
        />
        A policy that there is
      </label>
      {value.kind === 'new' ? (
        <TextField
          label="Name of the policy"
          value={value.name}
          onChange={(next) => onChange({ kind: 'new', name: next })}
        />
      ) : (
        <ExistingPolicy
          policyId={value.policyId}
          onChange={(policyId) => onChange({ kind: 'existing', policyId })}
        />
      )}
    </fieldset>
  );
}

interface ExistingPolicyProps {
  readonly policyId: number;
  readonly onChange: (policyId: number) => void;
}

function ExistingPolicy({ policyId, onChange }: ExistingPolicyProps) {
  const search = useNameSearch(PolicyService.method.listPolicies);
  const found = search.data?.policies ?? [];
  const isFound = found.some(({ id }) => id === policyId);
  return (
    <div className="filters">
      <TextField label="Find a policy" type="search" value={search.text} onChange={search.setText} />
      <SelectField
        label="Policy to install in"
        value={isFound ? String(policyId) : ''}
        options={[
          ['', found.length === 0 ? 'none found' : 'choose…'],
          ...found.map(({ id, name }) => [String(id), name] as const),
        ]}
        onChange={(id) => onChange(Number(id))}
      />
      <Problem error={search.error} />
    </div>
  );
}
