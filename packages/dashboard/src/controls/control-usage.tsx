import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Link } from 'wouter';
import { ControlService } from '../../../../gen/proto/enforcement/v1/control_service_pb.js';
import { BY_CURSOR } from '../shared/by-cursor.js';
import { LoadMore } from '../shared/load-more.js';
import { Empty, QueryState } from '../shared/states.js';
import { Table } from '../shared/table.js';
import { UserText } from '../shared/user-text.js';

const PAGE_SIZE = 50;

/** The agents that a control checks, and the policies that contain it. */
export function ControlUsage({ controlId }: { readonly controlId: number }) {
  const input = { controlId, cursor: undefined, limit: PAGE_SIZE };
  const agents = useInfiniteQuery(ControlService.method.listControlAgents, input, BY_CURSOR);
  const policies = useInfiniteQuery(ControlService.method.listControlPolicies, input, BY_CURSOR);
  const names = new Map(
    policies.data?.pages.flatMap((page) => page.policies).map((policy) => [policy.id, policy.name]),
  );
  return (
    <QueryState query={agents} what="agents">
      {({ pages }) => {
        const rows = pages.flatMap((page) => page.agents);
        if (rows.length === 0) return <Empty title="No agent uses this control" />;
        return (
          <>
            <Table label="Agents that use this control" columns={['Agent', 'Through']}>
              {rows.map((agent) => (
                <tr key={agent.agentName}>
                  <td>
                    <Link href={`/agents/${encodeURIComponent(agent.agentName)}`}>
                      <UserText text={agent.agentName} />
                    </Link>
                  </td>
                  <td>
                    <span className="links">
                      {agent.direct && <span>direct link</span>}
                      {agent.policyIds.map((id) => (
                        <Link key={id} href={`/policies/${id}`}>
                          policy <UserText text={names.get(id) ?? String(id)} />
                        </Link>
                      ))}
                    </span>
                  </td>
                </tr>
              ))}
            </Table>
            <LoadMore {...agents} shown={rows.length} total={pages[0]?.pagination?.total ?? 0} />
          </>
        );
      }}
    </QueryState>
  );
}
