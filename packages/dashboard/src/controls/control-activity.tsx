import { useQuery } from '@connectrpc/connect-query';
import { ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { ActivityView } from '../activity/activity-view.js';
import { refreshMs, statisticsRange, useRange } from '../activity/range-field.js';
import { TopAgents } from '../activity/top-tables.js';

/** What a control decided in a time range over all agents, and its latest events. */
export function ControlActivity({ controlId }: { readonly controlId: number }) {
  const [range] = useRange();
  const query = useQuery(
    ObservabilityService.method.getStatsOverview,
    { controlId, ...statisticsRange(range), includeTimeseries: true },
    { refetchInterval: refreshMs(range), placeholderData: keepPreviousData },
  );
  return (
    <ActivityView
      query={query}
      of={{ control: controlId }}
      top={({ agents }) => <TopAgents agents={agents} range={range} control={controlId} />}
    />
  );
}
