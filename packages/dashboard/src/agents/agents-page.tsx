import { useInfiniteQuery } from '@connectrpc/connect-query';
import { AgentService, type AgentSummary } from '@gen/enforcement/v1/agent_service_pb.js';
import { FILTERED_BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { useMay } from '../session/session-context.js';
import { List } from '../ui/list/list.js';
import { Page } from '../ui/page/page.js';
import { QueryBar } from '../ui/query-bar/query-bar.js';
import { useQueryTerms } from '../ui/query-bar/use-query-terms.js';
import { SavedViews } from '../ui/saved-views/saved-views.js';
import { selectColumn } from '../ui/table/selection-bar.js';
import { useSelection } from '../ui/table/use-selection.js';
import { useSort } from '../ui/table/use-sort.js';
import { agentColumns } from './agent-columns.js';
import { AGENT_MEMBERS, AGENT_ORDERS, agentFilter, agentOrder } from './agent-query.js';
import { AgentsBar } from './agents-bar.js';
import { NoAgents } from './no-agents.js';
import { useDayCounts } from './use-day-counts.js';
import './agents.css';

const keyOf = ({ agentName }: AgentSummary) => agentName;

/** The registered agents, by filters and in any order; an admin gives policies to several at once. */
export default function AgentsPage() {
  const mayChange = useMay('agents.write');
  const terms = useQueryTerms(AGENT_MEMBERS);
  const sort = useSort(AGENT_ORDERS);
  const filter = agentFilter(terms.terms);
  const query = useInfiniteQuery(
    AgentService.method.listAgents,
    { ...FIRST_PAGE, ...filter, ...agentOrder(sort) },
    { ...FILTERED_BY_CURSOR, enabled: terms.isReady },
  );
  const countsOf = useDayCounts(query.data?.pages.flatMap(({ agents }) => agents.map(keyOf)) ?? []);
  const selection = useSelection(keyOf, JSON.stringify(filter));
  return (
    <Page title="Agents">
      <div className="filter-line">
        <QueryBar label="Filter agents" query={terms} textMember="name" />
        <SavedViews page="/agents" />
      </div>
      {terms.isReady && (
        <List
          label="Agents"
          what="agents"
          query={query}
          rowsOf={({ agents }) => agents}
          keyOf={keyOf}
          sort={sort}
          rowClass={(agent) => (mayChange && selection.has(agent) ? 'selected' : undefined)}
          empty={<NoAgents terms={terms.terms} />}
          // It stays when no agent is left: its dialog says what was done.
          above={(agents, total) =>
            mayChange && <AgentsBar shown={agents} total={total} filter={filter} selection={selection} />
          }
          columns={[mayChange && selectColumn(selection, keyOf), ...agentColumns(countsOf)]}
        />
      )}
    </Page>
  );
}
