import { useQuery } from '@connectrpc/connect-query';
import { ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { ActivityView } from '../activity/activity-view.js';
import { refreshMs, statisticsRange, useRange } from '../activity/range-field.js';
import { TopControls } from '../activity/top-tables.js';

const SHOWN_CONTROLS = 10;

/** What the controls of an agent decided in a time range, and its latest events. */
export function AgentActivity({ agentName }: { readonly agentName: string }) {
  const [range] = useRange();
  const query = useQuery(
    ObservabilityService.method.getStats,
    { agentName, ...statisticsRange(range), includeTimeseries: true },
    { refetchInterval: refreshMs(range), placeholderData: keepPreviousData },
  );
  return (
    <ActivityView
      query={query}
      of={{ agent: agentName }}
      hasRange
      top={({ controls }) => (
        <TopControls controls={controls.slice(0, SHOWN_CONTROLS)} range={range} agent={agentName} />
      )}
    />
  );
}
