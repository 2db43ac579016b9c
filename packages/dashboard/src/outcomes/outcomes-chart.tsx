import type { GetEvaluationStatsResponse } from '@gen/enforcement/v1/observability_service_pb.js';
import type { EventsOf } from '../activity/events-address.js';

interface OutcomesChartProps {
  readonly stats: GetEvaluationStatsResponse;
  /** What is counted. */
  readonly of: Pick<EventsOf, 'agent'>;
}

export function OutcomesChart(_props: OutcomesChartProps) {
  return null;
}
