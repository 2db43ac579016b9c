import type {
  EvaluationCounts,
  GetEvaluationStatsResponse,
} from '@gen/enforcement/v1/observability_service_pb.js';
import { useMemo } from 'react';
import type { IntervalCounts } from '../activity/bucket-counts.js';
import { type ChartWords, IntervalsChart } from '../activity/decisions-chart.js';
import type { EventsOf } from '../activity/events-address.js';

const WORDS: ChartWords = {
  title: 'Evaluations over time',
  unit: 'Evaluated steps',
  layers: ['deny', 'error', 'steer', 'observe', 'allow'],
  words: {
    deny: 'denied',
    error: 'denied by error',
    steer: 'steered',
    observe: 'allowed, observed',
    allow: 'allowed',
  },
};

interface OutcomesChartProps {
  readonly stats: GetEvaluationStatsResponse;
  /** What is counted. */
  readonly of: Pick<EventsOf, 'agent'>;
}

/** Evaluations over time by outcome. Each is in one layer. */
export function OutcomesChart({ stats, of }: OutcomesChartProps) {
  const intervals = useMemo(() => outcomeIntervals(stats), [stats]);
  return <IntervalsChart intervals={intervals} of={of} as={WORDS} />;
}

type Series = Pick<GetEvaluationStatsResponse, 'timeseries' | 'bucketSeconds'>;

/** The intervals of evaluations; the last one may still go on. */
export function outcomeIntervals({ timeseries, bucketSeconds }: Series): IntervalCounts[] {
  return timeseries.map(({ timestamp, counts }) => {
    const fromMs = Date.parse(timestamp);
    return {
      fromMs,
      toMs: fromMs + bucketSeconds * 1000,
      counts: layersOf(counts),
      checks: Number(counts?.evaluated ?? 0n),
    };
  });
}

function layersOf(counts: EvaluationCounts | undefined): IntervalCounts['counts'] {
  if (counts === undefined) return { deny: 0, error: 0, steer: 0, observe: 0, allow: 0 };
  const { denied, deniedByError, steered, observed, allowed } = counts;
  return {
    deny: Number(denied - deniedByError),
    error: Number(deniedByError),
    steer: Number(steered),
    observe: Number(observed),
    allow: Number(allowed - observed),
  };
}
