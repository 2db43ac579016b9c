import type { ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useState } from 'react';
import { useNameSearch } from '../../data/use-name-search.js';
import { SelectField, TextField } from '../../ui/fields/fields.js';
import { numberOf } from '../../ui/numbers.js';
import { Problem } from '../../ui/states.js';
import { addToPolicy } from './bulk-actions.js';
import { BulkDialog } from './bulk-dialog.js';

interface BulkAddToPolicyProps {
  readonly controls: readonly ControlSummary[];
  readonly onClose: (remaining: readonly ControlSummary[]) => void;
}

/** Chooses a policy and adds the selected controls to it. */
export function BulkAddToPolicy({ controls, onClose }: BulkAddToPolicyProps) {
  const [chosen, setChosen] = useState('');
  const search = useNameSearch(PolicyService.method.listPolicies);
  const policies = search.data?.policies ?? [];
  const policy = policies.find(({ id }) => String(id) === chosen) ?? policies[0];
  const options = policies.map(({ id, name: text }) => [String(id), text] as const);
  return (
    <BulkDialog
      title={`Add ${numberOf(controls.length, 'control')} to a policy?`}
      action={
        policy === undefined
          ? null
          : addToPolicy(policy.id, policy.name, numberOf(policy.agentCount, 'agent'))
      }
      controls={controls}
      onClose={onClose}
    >
      <div className="filters">
        <TextField label="Find a policy" type="search" value={search.text} onChange={search.setText} />
        <SelectField
          label="Policy"
          value={policy === undefined ? '' : String(policy.id)}
          options={options.length === 0 ? [['', 'none found']] : options}
          onChange={setChosen}
        />
      </div>
      <Problem error={search.error} />
    </BulkDialog>
  );
}
