import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { useLocation } from 'wouter';
import { useChange } from '../data/use-change.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { numberOf } from '../ui/numbers.js';
import { useAgentLinks } from './use-agent-links.js';

interface DeleteAgentProps {
  readonly agentName: string;
  readonly version: bigint;
}

/** Deletes an agent, after saying what goes with it. */
export function DeleteAgent({ agentName, version }: DeleteAgentProps) {
  const [, open] = useLocation();
  const { data: links } = useAgentLinks(agentName);
  const remove = useChange(AgentService.method.deleteAgent, () => open('/agents'));
  if (links === undefined) return null;
  const direct = [...links.origins.values()].filter(({ isDirect }) => isDirect).length;
  return (
    <ConfirmButton
      verb="Delete"
      object={agentName}
      change={remove}
      onConfirm={() => remove.mutateAsync({ agentName, ifVersion: version })}
    >
      <p>
        Its registration goes, with {numberOf(direct, 'direct link')} to controls and{' '}
        {links.policies.length === 1 ? '1 policy' : `${links.policies.length} policies`} that it has. Its
        steps are then refused, until its client registers it again: without these controls. Events, controls
        and policies themselves remain.
      </p>
    </ConfirmButton>
  );
}
