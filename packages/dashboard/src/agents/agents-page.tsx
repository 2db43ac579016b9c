import { useInfiniteQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { Link } from 'wouter';
import { AgentService } from '../../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { BY_CURSOR } from '../shared/by-cursor.js';
import { LoadMore, nextPageOf } from '../shared/load-more.js';
import { Page } from '../shared/page.js';
import { TextField } from '../shared/select-field.js';
import { Empty, QueryState } from '../shared/states.js';
import { Table } from '../shared/table.js';
import { TimeText } from '../shared/time-text.js';
import { useAddressFilter } from '../shared/use-address-filter.js';
import { useDebounced } from '../shared/use-debounced.js';
import { UserText } from '../shared/user-text.js';
import { utcTime } from './utc-time.js';

const PAGE_SIZE = 50;
const COLUMNS = ['Agent', 'Active controls', 'Steps', 'Evaluators', 'Policies', 'Registered'];

/** The registered agents. */
export default function AgentsPage() {
  const [filters, setFilter] = useAddressFilter();
  const name = filters.get('name') ?? '';
  const settled = useDebounced(name.trim());
  const query = useInfiniteQuery(
    AgentService.method.listAgents,
    { cursor: undefined, limit: PAGE_SIZE, ...(settled === '' ? {} : { name: settled }) },
    { ...BY_CURSOR, placeholderData: keepPreviousData },
  );
  return (
    <Page title="Agents">
      <search className="filters">
        <TextField
          label="Name contains"
          type="search"
          value={name}
          onChange={(text) => setFilter('name', text)}
        />
      </search>
      <QueryState query={query} what="agents">
        {({ pages }) => {
          const agents = pages.flatMap((page) => page.agents);
          if (agents.length === 0) return <NoAgents isFiltered={settled !== ''} />;
          return (
            <>
              <Table label="Agents" columns={COLUMNS} onEnd={nextPageOf(query)}>
                {agents.map((agent) => (
                  <tr key={agent.agentName}>
                    <td>
                      <Link href={`/agents/${encodeURIComponent(agent.agentName)}`}>
                        <UserText text={agent.agentName} />
                      </Link>
                    </td>
                    <td className="number">{agent.activeControlsCount}</td>
                    <td className="number">{agent.stepCount}</td>
                    <td className="number">{agent.evaluatorCount}</td>
                    <td className="number">{agent.policyIds.length}</td>
                    <td>
                      <TimeText time={utcTime(agent.createdAt)} />
                    </td>
                  </tr>
                ))}
              </Table>
              <LoadMore {...query} shown={agents.length} total={pages[0]?.pagination?.total ?? 0} />
            </>
          );
        }}
      </QueryState>
    </Page>
  );
}

function NoAgents({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No agent has such a name" />;
  return (
    <Empty title="No agents yet">
      <p>An agent is a program whose steps are checked. It registers itself before its first step:</p>
      <pre className="code">
        {`curl -X POST ${window.location.origin}/api/v1/agents/initAgent \\
  -H 'content-type: application/json' \\
  -d '{"agent": {"agent_name": "billing-bot-01"}, "steps": [{"type": "tool", "name": "send_mail"}]}'`}
      </pre>
    </Empty>
  );
}
