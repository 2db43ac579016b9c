import { useInfiniteQuery } from '@connectrpc/connect-query';
import { AgentService, type AgentSummary } from '@gen/enforcement/v1/agent_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { Link } from 'wouter';
import { BY_CURSOR } from '../data/by-cursor.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { SelectField, TextField } from '../ui/fields/fields.js';
import { LoadMore, nextPageOf } from '../ui/list/load-more.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { QueryState } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { NoAgents } from './no-agents.js';
import { utcTime } from './utc-time.js';
import './agents.css';

const PAGE_SIZE = 50;
const COLUMNS = [
  'Agent',
  'Controls in effect',
  'Policies',
  'Steps',
  'Evaluators',
  'Last evaluated',
  'Registered',
];
const CONTROL_OPTIONS = [
  ['', 'any'],
  ['none', 'none in effect'],
  ['some', 'at least one in effect'],
] as const;

/** The registered agents. */
export default function AgentsPage() {
  const [filters, setFilter] = useAddressFilter();
  const name = filters.get('name') ?? '';
  const controls = filters.get('controls') ?? '';
  const settled = useDebounced(name.trim());
  const query = useInfiniteQuery(
    AgentService.method.listAgents,
    {
      cursor: undefined,
      limit: PAGE_SIZE,
      ...(settled === '' ? {} : { name: settled }),
      ...(controls === 'none' || controls === 'some' ? { hasActiveControls: controls === 'some' } : {}),
    },
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
        <SelectField
          label="Controls"
          value={controls}
          options={CONTROL_OPTIONS}
          onChange={(value) => setFilter('controls', value)}
        />
      </search>
      <QueryState query={query} what="agents">
        {({ pages }) => {
          const agents = pages.flatMap((page) => page.agents);
          if (agents.length === 0) return <NoAgents name={settled} controls={controls} />;
          return (
            <>
              <Table label="Agents" columns={COLUMNS} onEnd={nextPageOf(query)}>
                {agents.map((agent) => (
                  <AgentRow key={agent.agentName} agent={agent} />
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

function AgentRow({ agent }: { readonly agent: AgentSummary }) {
  const address = `/agents/${encodeURIComponent(agent.agentName)}`;
  const { activeControlsCount, policyIds, stepCount, evaluatorCount, lastUsedAt, createdAt } = agent;
  return (
    <tr>
      <td>
        <Link href={address}>
          <UserText text={agent.agentName} />
        </Link>
      </td>
      <td className="number">
        {activeControlsCount === 0 ? <span className="uncovered">none</span> : activeControlsCount}
      </td>
      <td className="number">
        {policyIds.length === 0 ? 0 : <Link href={`${address}?tab=policies`}>{policyIds.length}</Link>}
      </td>
      <td className="number">
        {stepCount === 0 ? 0 : <Link href={`${address}?tab=steps`}>{stepCount}</Link>}
      </td>
      <td className="number">
        {evaluatorCount === 0 ? 0 : <Link href={`${address}?tab=evaluators`}>{evaluatorCount}</Link>}
      </td>
      <td>
        {lastUsedAt === undefined ? (
          <span className="muted" title="Not in the last 30 days, or only in the last minutes">
            –
          </span>
        ) : (
          <span title="About to the hour">
            <TimeText time={utcTime(lastUsedAt)} />
          </span>
        )}
      </td>
      <td>
        <TimeText time={utcTime(createdAt)} />
      </td>
    </tr>
  );
}
