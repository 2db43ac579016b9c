import { type Policy, type PolicyAgent, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useMutation } from '@tanstack/react-query';
import { useRefresh } from '../data/use-change.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { numberOf } from '../ui/numbers.js';
import type { Selection } from '../ui/table/use-selection.js';
import { agentsOfPolicy, removeAgents } from './policy-members.js';

interface RemoveAgentsProps {
  readonly policy: Policy;
  readonly selection: Selection<PolicyAgent>;
  /** The loaded agents that can be removed. */
  readonly shown: readonly PolicyAgent[];
  readonly count: number;
}

/** Takes the policy from the selected agents. Those that have it by labels keep it. */
export function RemoveAgents({ policy, selection, shown, count }: RemoveAgentsProps) {
  const refresh = useRefresh();
  const remove = useMutation({
    mutationFn: async () => {
      const agents = selection.isAll ? await agentsOfPolicy(policy.id, new AbortController().signal) : shown;
      const chosen = agents.filter((agent) => !agent.byLabels && selection.has(agent));
      await removeAgents(
        policy.id,
        chosen.map(({ agentName }) => agentName),
      );
    },
    onSuccess: () => selection.choose([]),
    onSettled: () => refresh(PolicyService.method.removePolicyAgents),
  });
  return (
    <ConfirmButton
      verb="Remove"
      object={numberOf(count, 'agent')}
      label="Remove…"
      change={remove}
      onConfirm={() => remove.mutateAsync()}
    >
      <p>
        They are no longer checked by the {numberOf(policy.controlIds.length, 'control')} of this policy,
        unless they have them in another way. Agents that have the policy by labels keep it.
      </p>
    </ConfirmButton>
  );
}
