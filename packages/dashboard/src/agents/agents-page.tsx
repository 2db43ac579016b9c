import { useInfiniteQuery } from '@connectrpc/connect-query';
import { AgentService, type AgentSummary } from '@gen/enforcement/v1/agent_service_pb.js';
import { Link } from 'wouter';
import { FILTERED_BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { AGENT_COLUMN, agentAddress } from '../references/columns.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { FilterBar, type FilterField } from '../ui/list/filter-fields.js';
import { List } from '../ui/list/list.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import type { Columns } from '../ui/table/columns.js';
import { TimeText } from '../ui/time-text.js';
import { NoAgents } from './no-agents.js';
import { utcTime } from './utc-time.js';
import './agents.css';

const FILTERS: readonly FilterField[] = [
  { name: 'name', label: 'Name contains' },
  {
    name: 'controls',
    label: 'Controls',
    options: [
      ['', 'any'],
      ['none', 'none in effect'],
      ['some', 'at least one in effect'],
    ],
  },
];
const COLUMNS: Columns<AgentSummary> = [
  AGENT_COLUMN,
  {
    head: 'Controls in effect',
    className: 'number',
    cell: ({ activeControlsCount }) =>
      activeControlsCount === 0 ? <span className="uncovered">none</span> : activeControlsCount,
  },
  {
    head: 'Policies',
    className: 'number',
    cell: (agent) => countLink(agent, agent.policyIds.length, 'policies'),
  },
  { head: 'Steps', className: 'number', cell: (agent) => countLink(agent, agent.stepCount, 'steps') },
  {
    head: 'Evaluators',
    className: 'number',
    cell: (agent) => countLink(agent, agent.evaluatorCount, 'evaluators'),
  },
  {
    head: 'Last evaluated',
    cell: ({ lastUsedAt }) =>
      lastUsedAt === undefined ? (
        <span className="muted" title="Not in the last 30 days, or only in the last minutes">
          –
        </span>
      ) : (
        <span title="About to the hour">
          <TimeText time={utcTime(lastUsedAt)} />
        </span>
      ),
  },
  { head: 'Registered', cell: ({ createdAt }) => <TimeText time={utcTime(createdAt)} /> },
];

/** The registered agents. */
export default function AgentsPage() {
  const filter = useAddressFilter();
  const controls = filter.get('controls');
  const name = useDebounced(filter.get('name').trim());
  const query = useInfiniteQuery(
    AgentService.method.listAgents,
    {
      ...FIRST_PAGE,
      ...(name === '' ? {} : { name }),
      ...(controls === 'none' || controls === 'some' ? { hasActiveControls: controls === 'some' } : {}),
    },
    FILTERED_BY_CURSOR,
  );
  return (
    <Page title="Agents">
      <FilterBar fields={FILTERS} filter={filter} />
      <List
        label="Agents"
        what="agents"
        query={query}
        columns={COLUMNS}
        rowsOf={({ agents }) => agents}
        keyOf={({ agentName }) => agentName}
        empty={<NoAgents name={name} controls={controls} />}
      />
    </Page>
  );
}

/** A number that leads to what is counted. */
function countLink({ agentName }: AgentSummary, count: number, tab: string) {
  return count === 0 ? 0 : <Link href={`${agentAddress(agentName)}?tab=${tab}`}>{count}</Link>;
}
