import { useInfiniteQuery, useQuery } from '@connectrpc/connect-query';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { Link } from 'wouter';
import { BY_CURSOR } from '../data/by-cursor.js';
import { useChange } from '../data/use-change.js';
import { useNameSearch } from '../data/use-name-search.js';
import { useIsAdmin } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { SearchToAdd } from '../ui/fields/search-to-add.js';
import { LoadMore } from '../ui/list/load-more.js';
import { numberOf } from '../ui/numbers.js';
import { Empty, QueryState } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';

const PAGE_SIZE = 50;

/** The agents that have a policy, and a form that adds one. */
export function PolicyAgents({ policy }: { readonly policy: Policy }) {
  const isAdmin = useIsAdmin();
  const query = useInfiniteQuery(
    PolicyService.method.listPolicyAgents,
    { policyId: policy.id, cursor: undefined, limit: PAGE_SIZE },
    BY_CURSOR,
  );
  return (
    <>
      {isAdmin && <AddAgent policy={policy} />}
      <QueryState query={query} what="agents">
        {({ pages }) => {
          const agents = pages.flatMap((page) => page.agents);
          if (agents.length === 0) return <Empty title="No agent has this policy" />;
          return (
            <>
              <Table label="Agents with this policy" columns={['Agent', ...(isAdmin ? ['Action'] : [])]}>
                {agents.map(({ agentName }) => (
                  <tr key={agentName}>
                    <td>
                      <Link href={`/agents/${encodeURIComponent(agentName)}`}>
                        <UserText text={agentName} />
                      </Link>
                    </td>
                    {isAdmin && (
                      <td>
                        <RemoveAgent policy={policy} agentName={agentName} />
                      </td>
                    )}
                  </tr>
                ))}
              </Table>
              <LoadMore {...query} shown={agents.length} total={pages[0]?.pagination?.total ?? 0} />
            </>
          );
        }}
      </QueryState>
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
      onConfirm={() => remove.mutateAsync({ policyId: policy.id, agentNames: [agentName] })}
    >
      <p>It is no longer checked by the {numberOf(policy.controlIds.length, 'control')} of this policy.</p>
    </ConfirmButton>
  );
}

function AddAgent({ policy }: { readonly policy: Policy }) {
  const search = useNameSearch();
  const found = useQuery(AgentService.method.listAgents, search.request);
  const add = useChange(PolicyService.method.addPolicyAgents);
  const options = (found.data?.agents ?? [])
    .filter(({ policyIds }) => !policyIds.includes(policy.id))
    .map(({ agentName }) => [agentName, agentName] as const);
  return (
    <SearchToAdd
      what="agent"
      search={search.text}
      onSearch={search.setText}
      found={options}
      onAdd={(agentName) => add.mutateAsync({ policyId: policy.id, agentNames: [agentName] })}
      isPending={add.isPending}
      error={add.error ?? found.error}
    />
  );
}
