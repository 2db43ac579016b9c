import { useQuery } from '@connectrpc/connect-query';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import {
  type GetStatsOverviewResponse,
  ObservabilityService,
} from '@gen/enforcement/v1/observability_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { DecisionsChart } from '../activity/decisions-chart.js';
import { Figure, Figures } from '../activity/figures.js';
import { RangeField, refreshMs, statisticsRange, useRange } from '../activity/range-field.js';
import { TopAgents, TopControls } from '../activity/top-tables.js';
import { ProblemList } from '../health/problem-list.js';
import { ServerCard } from '../health/server-card.js';
import { useServer } from '../health/use-server.js';
import { useSession } from '../session/session-context.js';
import { countText, shareText } from '../ui/numbers.js';
import { Page } from '../ui/page/page.js';
import { QueryState } from '../ui/states.js';
import { Coverage } from './coverage.js';
import { NothingRecorded } from './nothing-recorded.js';
import './overview.css';

const UNCOVERED_SHOWN = 5;
const COUNTS_REFRESH_MS = 15_000;

/** What happened in a time range over all agents, whether all of them are covered, and how the server is. */
export default function OverviewPage() {
  const [range] = useRange();
  const server = useServer();
  const refetchInterval = COUNTS_REFRESH_MS;
  const agents = useQuery(AgentService.method.listAgents, { limit: 1 }, { refetchInterval });
  const uncovered = useQuery(
    AgentService.method.listAgents,
    { limit: UNCOVERED_SHOWN, hasActiveControls: false },
    { refetchInterval },
  );
  const controls = useQuery(ControlService.method.listControls, { limit: 1 }, { refetchInterval });
  const total = agents.data?.pagination?.total;
  const without = uncovered.data?.pagination?.total;
  const isRecorded = server.info?.state?.eventsEnabled !== false;
  const fleet = (
    <>
      {total !== undefined && <Figure name="Agents" value={countText(total)} href="/agents" />}
      {total !== undefined && without !== undefined && (
        <Figure
          name="Agents without any control"
          value={countText(without)}
          share={shareText(BigInt(without), BigInt(total))}
          href="/agents?controls=none"
        />
      )}
      {controls.data !== undefined && (
        <Figure name="Controls" value={countText(controls.data.pagination?.total ?? 0)} href="/controls" />
      )}
    </>
  );
  return (
    <Page title="Overview" actions={isRecorded ? <RangeField /> : undefined}>
      <ProblemList problems={server.problems} />
      {isRecorded ? <Statistics range={range}>{fleet}</Statistics> : <dl className="figures">{fleet}</dl>}
      <div className="columns overview-cards">
        <Coverage uncovered={uncovered} agents={total} />
        <ServerCard server={server} />
      </div>
    </Page>
  );
}

interface StatisticsProps {
  readonly range: string;
  /** Figures of the fleet. */
  readonly children: ReactNode;
}

function Statistics({ range, children }: StatisticsProps) {
  const query = useQuery(
    ObservabilityService.method.getStatsOverview,
    { ...statisticsRange(range), includeTimeseries: true },
    { refetchInterval: refreshMs(range), placeholderData: keepPreviousData },
  );
  return (
    <QueryState query={query} what="statistics">
      {(stats) => (
        <>
          <Figures totals={stats.totals} of={{ range }}>
            {children}
          </Figures>
          <Recorded stats={stats} range={range} />
        </>
      )}
    </QueryState>
  );
}

interface RecordedProps {
  readonly stats: GetStatsOverviewResponse;
  readonly range: string;
}

function Recorded({ stats, range }: RecordedProps) {
  const { state } = useSession();
  const { totals, topControls, agents } = stats;
  if (totals === undefined || totals.executionTotal === 0n) {
    return <NothingRecorded keysRequired={state.kind === 'ready' && state.keysRequired} />;
  }
  return (
    <>
      <DecisionsChart totals={totals} of={{}} />
      <div className="columns">
        <TopControls controls={topControls} all={totals.executionTotal} range={range} />
        <TopAgents agents={agents} range={range} />
      </div>
    </>
  );
}
