import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { ObservabilityService } from '../../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { DecisionsChart } from '../activity/decisions-chart.js';
import { Figures } from '../activity/figures.js';
import { LatestEvents } from '../activity/latest-events.js';
import { RangeField, refreshMs, useRange } from '../activity/range-field.js';
import { TopAgents } from '../activity/top-tables.js';
import { QueryState } from '../shared/states.js';

/** What a control decided in a time range over all agents, and its latest events. */
export function ControlActivity({ controlId }: { readonly controlId: number }) {
  const [range] = useRange();
  const query = useQuery(
    ObservabilityService.method.getStatsOverview,
    { controlId, timeRange: range, includeTimeseries: true },
    { refetchInterval: refreshMs(range), placeholderData: keepPreviousData },
  );
  return (
    <>
      <div className="filters">
        <RangeField />
      </div>
      <QueryState query={query} what="statistics">
        {({ totals, agents, timeRange }) => (
          <>
            <Figures totals={totals} of={{ range: timeRange, control: controlId }} />
            {totals === undefined || totals.executionTotal === 0n ? (
              <p className="muted">Nothing was recorded in this range.</p>
            ) : (
              <>
                <DecisionsChart totals={totals} of={{ control: controlId }} />
                <TopAgents agents={agents} range={timeRange} control={controlId} />
              </>
            )}
          </>
        )}
      </QueryState>
      <LatestEvents control={controlId} />
    </>
  );
}
