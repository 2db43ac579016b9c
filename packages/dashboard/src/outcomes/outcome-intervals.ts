import type {
  EvaluationCounts,
  GetEvaluationStatsResponse,
} from '@gen/enforcement/v1/observability_service_pb.js';
import type { ChartInterval } from '../activity/chart-geometry.js';

/** The evaluations of an interval. */
export interface OutcomeInterval extends ChartInterval {
  readonly evaluated: bigint;
}

type Counts = Omit<EvaluationCounts, '$typeName' | '$unknown'>;

/** What is read of the reply. */
interface Series extends Pick<GetEvaluationStatsResponse, 'bucketSeconds'> {
  readonly timeseries: readonly { readonly timestamp: string; readonly counts?: Counts | undefined }[];
}

/** The intervals of evaluations; the last one may still go on. */
export function outcomeIntervals({ timeseries, bucketSeconds }: Series): OutcomeInterval[] {
  return timeseries.map(({ timestamp, counts }) => {
    const fromMs = Date.parse(timestamp);
    return {
      fromMs,
      toMs: fromMs + bucketSeconds * 1000,
      counts: counts === undefined ? {} : layersOf(counts),
      evaluated: counts?.evaluated ?? 0n,
    };
  });
}

function layersOf(counts: Counts): ChartInterval['counts'] {
  const { denied, deniedByError, steered, observed, allowed } = counts;
  return {
    deny: Number(denied - deniedByError),
    error: Number(deniedByError),
    steer: Number(steered),
    observe: Number(observed),
    safe: Number(allowed - observed),
  };
}
