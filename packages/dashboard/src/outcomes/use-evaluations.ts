import { useQuery } from '@connectrpc/connect-query';
import { ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { type Range, refreshMs, statisticsRange } from '../ui/range/range.js';

interface EvaluationsOf {
  readonly range: Range;
  /** The only agent that is counted; undefined for all. */
  readonly agentName?: string | undefined;
  /** Number of agents that are listed. */
  readonly limit?: number;
  readonly enabled?: boolean;
}

/** The evaluations of a time range and of the one before, with their outcomes, whatever is recorded as events. */
export function useEvaluations({ range, agentName, limit, enabled = true }: EvaluationsOf) {
  return useQuery(
    ObservabilityService.method.getEvaluationStats,
    {
      ...statisticsRange(range),
      includeTimeseries: true,
      includePrevious: true,
      ...(agentName === undefined ? {} : { agentName }),
      ...(limit === undefined ? {} : { limit }),
    },
    { refetchInterval: refreshMs(range), placeholderData: keepPreviousData, enabled },
  );
}
