import { useTransport } from '@connectrpc/connect-query';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState } from 'react';
import { useRefresh } from '../data/use-change.js';
import { useNameSearch } from '../data/use-name-search.js';
import { SelectField, TextField } from '../ui/fields/fields.js';
import { numberOf } from '../ui/numbers.js';
import { Problem } from '../ui/states.js';
import { type ChosenAgents, changePolicyOf, chosenNames } from './chosen-agents.js';

interface AgentsPolicyDialogProps {
  readonly verb: 'add' | 'remove';
  /** Number of the chosen agents. */
  readonly count: number;
  readonly chosen: ChosenAgents;
  readonly onClose: (isDone: boolean) => void;
}

/** Chooses a policy, gives it to the chosen agents or takes it from them, and says how many that changed. */
export function AgentsPolicyDialog({ verb, count, chosen, onClose }: AgentsPolicyDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const [policyId, setPolicyId] = useState('');
  const transport = useTransport();
  const refresh = useRefresh();
  const search = useNameSearch(PolicyService.method.listPolicies);
  const policies = search.data?.policies ?? [];
  const policy = policies.find(({ id }) => String(id) === policyId) ?? policies[0];
  const change = useMutation({
    mutationFn: async (id: number) => {
      const agentNames = await chosenNames(transport, chosen, new AbortController().signal);
      return {
        of: agentNames.length,
        changed: await changePolicyOf(transport, { verb, policyId: id, agentNames }),
      };
    },
    onSettled: () => refresh(PolicyService.method.addPolicyAgents),
  });
  useEffect(() => dialog.current?.showModal(), []);
  const options = policies.map(({ id, name }) => [String(id), name] as const);
  const done = change.data;
  const agents = numberOf(count, 'agent');
  return (
    <dialog
      ref={dialog}
      className="bulk-dialog"
      aria-labelledby={titleId}
      onClose={() => onClose(done !== undefined)}
    >
      <h2 id={titleId}>
        {verb === 'add' ? `Add ${agents} to a policy?` : `Remove ${agents} from a policy?`}
      </h2>
      {done === undefined ? (
        <>
          <div className="filters">
            <TextField label="Find a policy" type="search" value={search.text} onChange={search.setText} />
            <SelectField
              label="Policy"
              value={policy === undefined ? '' : String(policy.id)}
              options={options.length === 0 ? [['', 'none found']] : options}
              onChange={setPolicyId}
            />
          </div>
          {policy !== undefined && (
            <p>
              {verb === 'add'
                ? `The ${numberOf(policy.controlIds.length, 'control')} of the policy check their steps at once.`
                : 'The controls that they have by this policy alone no longer check their steps.'}
            </p>
          )}
          <Problem error={change.error ?? search.error} />
        </>
      ) : (
        <p role="status">
          {numberOf(done.changed, 'agent')} of {done.of.toLocaleString()}{' '}
          {verb === 'add'
            ? 'added; the others had the policy.'
            : 'removed; the others did not have the policy.'}
        </p>
      )}
      <div className="dialog-actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          {done === undefined ? 'Cancel' : 'Close'}
        </button>
        {done === undefined && (
          <button
            type="button"
            className="primary"
            disabled={policy === undefined || change.isPending}
            onClick={() => policy !== undefined && change.mutate(policy.id)}
          >
            {verb === 'add' ? 'Add' : 'Remove'} {agents}
          </button>
        )}
      </div>
    </dialog>
  );
}
