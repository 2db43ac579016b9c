import type { GetEvaluationStatsResponse } from '@gen/enforcement/v1/observability_service_pb.js';
import { TimeText } from '../ui/time-text.js';

/** Says what is missing in a range that begins before evaluations were counted. */
export function CountedSince({ stats }: { readonly stats: GetEvaluationStatsResponse }) {
  const { countedSince, startTime } = stats;
  if (countedSince === undefined || Date.parse(startTime) >= Date.parse(countedSince)) return null;
  return (
    <p className="muted">
      Evaluations are counted since <TimeText time={countedSince} isExact />; those before are missing in this
      range.
    </p>
  );
}
