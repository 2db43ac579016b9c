import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { Link } from 'wouter';
import { AgentService } from '../../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { ControlService } from '../../../../gen/proto/enforcement/v1/control_service_pb.js';
import {
  type GetStatsOverviewResponse,
  ObservabilityService,
} from '../../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { countText, shareText } from '../shared/numbers.js';
import { Page } from '../shared/page.js';
import { SelectField } from '../shared/select-field.js';
import { Empty, QueryState } from '../shared/states.js';
import { Table } from '../shared/table.js';
import { useAddressFilter } from '../shared/use-address-filter.js';
import { UserText } from '../shared/user-text.js';
import { DecisionsChart } from './decisions-chart.js';

const RANGES = [
  ['5m', '5 minutes'],
  ['15m', '15 minutes'],
  ['1h', '1 hour'],
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['180d', '180 days'],
  ['365d', '1 year'],
] as const;
const DEFAULT_RANGE = '24h';
const REFRESH_MS = 15_000;

/** What happened in a time range, over all agents. */
export default function OverviewPage() {
  const [parameters, setFilter] = useAddressFilter();
  const range = parameters.get('range') ?? DEFAULT_RANGE;
  const query = useQuery(
    ObservabilityService.method.getStatsOverview,
    { timeRange: range, includeTimeseries: true },
    { refetchInterval: REFRESH_MS, placeholderData: keepPreviousData },
  );
  return (
    <Page
      title="Overview"
      actions={
        <SelectField
          label="Range"
          value={range}
          options={RANGES}
          onChange={(value) => setFilter('range', value === DEFAULT_RANGE ? '' : value)}
        />
      }
    >
      <QueryState query={query} what="statistics">
        {(stats) => <Statistics stats={stats} />}
      </QueryState>
    </Page>
  );
}

function Statistics({ stats }: { readonly stats: GetStatsOverviewResponse }) {
  const agents = useQuery(AgentService.method.listAgents, { limit: 1 });
  const controls = useQuery(ControlService.method.listControls, { limit: 1 });
  const { totals } = stats;
  const executions = totals?.executionTotal ?? 0n;
  const matches = (action: string) => totals?.actionTotals[action] ?? 0n;
  return (
    <>
      <dl className="figures">
        <Figure name="Recorded checks" value={countText(executions)} />
        <Figure
          name="Denied"
          value={countText(matches('deny'))}
          share={shareText(matches('deny'), executions)}
        />
        <Figure
          name="Steered"
          value={countText(matches('steer'))}
          share={shareText(matches('steer'), executions)}
        />
        <Figure
          name="Errors"
          value={countText(totals?.errorTotal ?? 0n)}
          share={shareText(totals?.errorTotal ?? 0n, executions)}
        />
        <Figure name="Agents" value={countText(agents.data?.pagination?.total ?? 0)} />
        <Figure name="Controls" value={countText(controls.data?.pagination?.total ?? 0)} />
      </dl>
      {executions === 0n ? (
        <Empty title="Nothing was recorded in this range">
          <p>
            Matches and errors of controls are counted here. <Link href="/playground">Try a step</Link> to see
            what a control decides.
          </p>
        </Empty>
      ) : (
        <>
          <DecisionsChart buckets={totals?.timeseries ?? []} />
          <div className="columns">
            <TopControls stats={stats} />
            <TopAgents stats={stats} />
          </div>
        </>
      )}
    </>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly share?: string;
}

function Figure({ name, value, share }: FigureProps) {
  return (
    <div className="card">
      <dt>{name}</dt>
      <dd>
        {value}
        {share !== undefined && <small className="muted"> {share}</small>}
      </dd>
    </div>
  );
}

function TopControls({ stats }: { readonly stats: GetStatsOverviewResponse }) {
  return (
    <section>
      <h2>Top controls</h2>
      <Table label="Top controls" columns={['Control', 'Agent', 'Checks', 'Deny', 'Steer', 'Errors']}>
        {stats.controls.map(({ agentName, stats: control }) => (
          <tr key={`${agentName} ${control?.controlId} ${control?.controlName}`}>
            <td>
              <Link href={`/controls/${control?.controlId}`}>
                <UserText text={control?.controlName ?? ''} max={40} />
              </Link>
            </td>
            <td>
              <UserText text={agentName} max={40} />
            </td>
            <td className="number">{countText(control?.executionTotal ?? 0n)}</td>
            <td className="number">{countText(control?.denyTotal ?? 0n)}</td>
            <td className="number">{countText(control?.steerTotal ?? 0n)}</td>
            <td className="number">{countText(control?.errorTotal ?? 0n)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function TopAgents({ stats }: { readonly stats: GetStatsOverviewResponse }) {
  return (
    <section>
      <h2>Top agents</h2>
      <Table label="Top agents" columns={['Agent', 'Checks', 'Deny', 'Errors']}>
        {stats.agents.map((agent) => (
          <tr key={agent.agentName}>
            <td>
              <Link href={`/agents/${encodeURIComponent(agent.agentName)}`}>
                <UserText text={agent.agentName} max={40} />
              </Link>
            </td>
            <td className="number">{countText(agent.executionTotal)}</td>
            <td className="number">{countText(agent.actionTotals.deny ?? 0n)}</td>
            <td className="number">{countText(agent.errorTotal)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
