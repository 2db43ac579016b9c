import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { ObservabilityService } from '../../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { DecisionsChart } from '../activity/decisions-chart.js';
import { Figures } from '../activity/figures.js';
import { LatestEvents } from '../activity/latest-events.js';
import { RangeField, refreshMs, useRange } from '../activity/range-field.js';
import { TopControls } from '../activity/top-tables.js';
import { QueryState } from '../shared/states.js';

const SHOWN_CONTROLS = 10;

/** What the controls of an agent decided in a time range, and its latest events. */
export function AgentActivity({ agentName }: { readonly agentName: string }) {
  const [range] = useRange();
  const query = useQuery(
    ObservabilityService.method.getStats,
    { agentName, timeRange: range, includeTimeseries: true },
    { refetchInterval: refreshMs(range), placeholderData: keepPreviousData },
  );
  return (
    <>
      <div className="filters">
        <RangeField />
      </div>
      <QueryState query={query} what="statistics">
        {({ totals, controls, timeRange }) => (
          <>
            <Figures totals={totals} of={{ range: timeRange, agent: agentName }} />
            {totals === undefined || totals.executionTotal === 0n ? (
              <p className="muted">Nothing was recorded in this range.</p>
            ) : (
              <>
                <DecisionsChart totals={totals} of={{ agent: agentName }} />
                <TopControls
                  controls={controls.slice(0, SHOWN_CONTROLS)}
                  all={totals.executionTotal}
                  range={timeRange}
                  agent={agentName}
                />
              </>
            )}
          </>
        )}
      </QueryState>
      <LatestEvents agent={agentName} />
    </>
  );
}
