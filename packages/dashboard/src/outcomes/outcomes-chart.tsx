import type { GetEvaluationStatsResponse } from '@gen/enforcement/v1/observability_service_pb.js';
import { useMemo } from 'react';
import type { ChartInterval, ChartLayer } from '../activity/chart-geometry.js';
import { type EventsOf, eventsAddress } from '../activity/events-address.js';
import { useRange } from '../activity/range-field.js';
import { TimeChart } from '../activity/time-chart.js';
import { outcomeIntervals } from './outcome-intervals.js';

/** The outcomes, from the bottom of a bar to its top. Each evaluation is in one of them. */
const LAYERS: readonly ChartLayer[] = [
  { sign: 'deny', word: 'denied' },
  { sign: 'error', word: 'denied by error' },
  { sign: 'steer', word: 'steered' },
  { sign: 'observe', word: 'observed' },
  { sign: 'safe', word: 'allowed' },
];

interface OutcomesChartProps {
  readonly stats: GetEvaluationStatsResponse;
  /** What is counted. */
  readonly of: Pick<EventsOf, 'agent'>;
}

/** Evaluations over time by outcome, in the range of the page. */
export function OutcomesChart({ stats, of }: OutcomesChartProps) {
  const [range, setRange] = useRange();
  const intervals = useMemo(() => outcomeIntervals(stats), [stats]);
  const addressOf = ({ fromMs, toMs }: ChartInterval) =>
    // The end of a time filter is inclusive.
    eventsAddress({ ...of, from: new Date(fromMs).toISOString(), to: new Date(toMs - 1).toISOString() });
  return (
    <TimeChart
      title="Evaluations over time"
      what="Evaluated steps"
      intervals={intervals}
      layers={LAYERS}
      addressOf={addressOf}
      range={range}
      onRange={setRange}
      columns={[
        {
          head: 'Evaluated steps',
          className: 'number',
          cell: ({ evaluated }) => evaluated.toLocaleString('en'),
        },
      ]}
    />
  );
}
