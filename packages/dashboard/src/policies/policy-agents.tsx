import { useInfiniteQuery } from '@connectrpc/connect-query';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { useChange } from '../data/use-change.js';
import { useNameSearch } from '../data/use-name-search.js';
import { AGENT_COLUMN } from '../references/columns.js';
import { useIsAdmin } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { SearchToAdd } from '../ui/fields/search-to-add.js';
import { List } from '../ui/list/list.js';
import { numberOf } from '../ui/numbers.js';
import { Empty } from '../ui/states.js';
import { policyAgentsUndo } from '../undo/link-undo.js';
import { offerUndo } from '../undo/undo-store.js';

/** The agents that have a policy, and a form that adds one. */
export function PolicyAgents({ policy }: { readonly policy: Policy }) {
  const isAdmin = useIsAdmin();
  const query = useInfiniteQuery(
    PolicyService.method.listPolicyAgents,
    { policyId: policy.id, ...FIRST_PAGE },
    BY_CURSOR,
  );
  return (
    <>
      {isAdmin && <AddAgent policy={policy} />}
      <List
        label="Agents with this policy"
        what="agents"
        query={query}
        rowsOf={({ agents }) => agents}
        keyOf={({ agentName }) => agentName}
        empty={<Empty title="No agent has this policy" />}
        columns={[
          AGENT_COLUMN,
          isAdmin && {
            head: 'Action',
            cell: ({ agentName }) => <RemoveAgent policy={policy} agentName={agentName} />,
          },
        ]}
      />
    </>
  );
}

interface RemoveAgentProps {
  readonly policy: Policy;
  readonly agentName: string;
}

function RemoveAgent({ policy, agentName }: RemoveAgentProps) {
  const remove = useChange(PolicyService.method.removePolicyAgents);
  return (
    <ConfirmButton
      verb="Remove"
      object={agentName}
      change={remove}
      onConfirm={() =>
        remove
          .mutateAsync({ policyId: policy.id, agentNames: [agentName] })
          .then(() => offerUndo(policyAgentsUndo(policy, [agentName])))
      }
    >
      <p>It is no longer checked by the {numberOf(policy.controlIds.length, 'control')} of this policy.</p>
    </ConfirmButton>
  );
}

function AddAgent({ policy }: { readonly policy: Policy }) {
  const search = useNameSearch(AgentService.method.listAgents);
  const add = useChange(PolicyService.method.addPolicyAgents);
  const others = (search.data?.agents ?? []).filter(({ policyIds }) => !policyIds.includes(policy.id));
  return (
    <SearchToAdd
      what="agent"
      search={search}
      found={others.map(({ agentName }) => [agentName, agentName] as const)}
      change={add}
      onAdd={(agentName) => add.mutateAsync({ policyId: policy.id, agentNames: [agentName] })}
    />
  );
}
