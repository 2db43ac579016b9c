import { useInfiniteQuery, useQuery } from '@connectrpc/connect-query';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import {
  type ControlAgent,
  ControlService,
  type GetControlResponse,
} from '@gen/enforcement/v1/control_service_pb.js';
import { Link } from 'wouter';
import { BY_CURSOR } from '../data/by-cursor.js';
import { useChange } from '../data/use-change.js';
import { useNameSearch } from '../data/use-name-search.js';
import { useIsAdmin } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { SearchToAdd } from '../ui/fields/search-to-add.js';
import { LoadMore } from '../ui/list/load-more.js';
import { Empty, QueryState } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';
import { Warnings } from '../ui/warnings.js';

const PAGE_SIZE = 50;

interface ControlProps {
  readonly control: GetControlResponse;
}

/** The agents that a control checks, linked to it or through policies; an admin links and unlinks. */
export function ControlAgents({ control }: ControlProps) {
  const isAdmin = useIsAdmin();
  const input = { controlId: control.id, cursor: undefined, limit: PAGE_SIZE };
  const agents = useInfiniteQuery(ControlService.method.listControlAgents, input, BY_CURSOR);
  const policies = useInfiniteQuery(ControlService.method.listControlPolicies, input, BY_CURSOR);
  const names = new Map(
    policies.data?.pages.flatMap((page) => page.policies).map((policy) => [policy.id, policy.name]),
  );
  return (
    <>
      {isAdmin && <LinkAgent control={control} />}
      <QueryState query={agents} what="agents">
        {({ pages }) => {
          const rows = pages.flatMap((page) => page.agents);
          if (rows.length === 0) return <NoAgents isAdmin={isAdmin} />;
          return (
            <>
              <Table
                label="Agents that use this control"
                columns={['Agent', 'Through', ...(isAdmin ? ['Action'] : [])]}
              >
                {rows.map((agent) => (
                  <tr key={agent.agentName}>
                    <td>
                      <Link href={`/agents/${encodeURIComponent(agent.agentName)}`}>
                        <UserText text={agent.agentName} />
                      </Link>
                    </td>
                    <td>
                      <span className="ways">
                        {agent.direct && <span>direct link</span>}
                        {agent.policyIds.map((id) => (
                          <Link key={id} href={`/policies/${id}`}>
                            policy <UserText text={names.get(id) ?? String(id)} />
                          </Link>
                        ))}
                      </span>
                    </td>
                    {isAdmin && <td>{agent.direct && <UnlinkAgent control={control} agent={agent} />}</td>}
                  </tr>
                ))}
              </Table>
              <LoadMore {...agents} shown={rows.length} total={pages[0]?.pagination?.total ?? 0} />
            </>
          );
        }}
      </QueryState>
    </>
  );
}

function NoAgents({ isAdmin }: { readonly isAdmin: boolean }) {
  return (
    <Empty title="No agent uses this control">
      <p>
        A control checks the steps of agents that are linked to it, and of agents with a policy that contains
        it.
        {isAdmin && ' Link an agent above, or add the control to a policy.'}
      </p>
    </Empty>
  );
}

function LinkAgent({ control }: ControlProps) {
  const search = useNameSearch();
  const found = useQuery(AgentService.method.listAgents, search.request);
  const link = useChange(AgentService.method.addAgentControl);
  return (
    <>
      <SearchToAdd
        what="agent"
        search={search.text}
        onSearch={search.setText}
        found={(found.data?.agents ?? []).map(({ agentName }) => [agentName, agentName] as const)}
        onAdd={(agentName) => link.mutateAsync({ agentName, controlId: control.id })}
        isPending={link.isPending}
        error={link.error ?? found.error}
      />
      <Warnings warnings={link.data?.warnings ?? []} />
    </>
  );
}

interface UnlinkAgentProps extends ControlProps {
  readonly agent: ControlAgent;
}

function UnlinkAgent({ control, agent: { agentName, policyIds } }: UnlinkAgentProps) {
  const unlink = useChange(AgentService.method.removeAgentControl);
  return (
    <ConfirmButton
      verb="Unlink"
      object={agentName}
      change={unlink}
      onConfirm={() => unlink.mutateAsync({ agentName, controlId: control.id })}
    >
      <p>
        {policyIds.length === 0 ? (
          <>
            The steps of this agent are no longer checked by <UserText text={control.name} />.
          </>
        ) : (
          'The agent still has this control through a policy, so its steps are checked as before.'
        )}
      </p>
    </ConfirmButton>
  );
}
