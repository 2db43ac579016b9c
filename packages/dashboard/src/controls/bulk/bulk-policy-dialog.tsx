import type { ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useState } from 'react';
import { useNameSearch } from '../../data/use-name-search.js';
import { SelectField, TextField } from '../../ui/fields/fields.js';
import { numberOf } from '../../ui/numbers.js';
import { Problem } from '../../ui/states.js';
import { addToPolicy, removeFromPolicy } from './bulk-actions.js';
import { BulkDialog } from './bulk-dialog.js';
import type { ChosenControls } from './chosen-controls.js';

interface BulkPolicyDialogProps {
  readonly what: 'add' | 'remove';
  readonly controls: ChosenControls;
  readonly onClose: (remaining: readonly ControlSummary[] | null) => void;
}

/** Chooses a policy and adds the selected controls to it, or removes them from it. */
export function BulkPolicyDialog({ what, controls, onClose }: BulkPolicyDialogProps) {
  const [chosen, setChosen] = useState('');
  const search = useNameSearch(PolicyService.method.listPolicies);
  const policies = search.data?.policies ?? [];
  const policy = policies.find(({ id }) => String(id) === chosen) ?? policies[0];
  const options = policies.map(({ id, name: text }) => [String(id), text] as const);
  const actionOf = what === 'add' ? addToPolicy : removeFromPolicy;
  const count = numberOf(controls.count, 'control');
  return (
    <BulkDialog
      title={what === 'add' ? `Add ${count} to a policy?` : `Remove ${count} from a policy?`}
      action={policy === undefined ? null : actionOf(policy)}
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
