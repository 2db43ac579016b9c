import type { StatsTotals } from '@gen/enforcement/v1/observability_service_pb.js';
import { useMemo } from 'react';
import { fixedTimes } from '../ui/range/range.js';
import { CHECK_LAYERS, intervalsOf } from './bucket-counts.js';
import type { ChartInterval } from './chart-geometry.js';
import { type EventsOf, eventsAddress } from './events-address.js';
import { useRange } from './range-field.js';
import { TimeChart } from './time-chart.js';
import { useVersionMarks } from './use-version-marks.js';

interface DecisionsChartProps {
  readonly totals: StatsTotals;
  /** What is counted; the events of an interval are linked. */
  readonly of: Pick<EventsOf, 'agent' | 'control'>;
}

/** Recorded checks and errors over time, in the range of the page. */
export function DecisionsChart({ totals, of }: DecisionsChartProps) {
  const [range, setRange] = useRange();
  const marks = useVersionMarks(of.control);
  const endMs = fixedTimes(range)?.toMs;
  const intervals = useMemo(
    () => intervalsOf(totals, Math.min(endMs ?? Number.POSITIVE_INFINITY, Date.now())),
    [totals, endMs],
  );
  const addressOf = ({ fromMs, toMs }: ChartInterval) =>
    // The end of a time filter is inclusive.
    eventsAddress({ ...of, from: new Date(fromMs).toISOString(), to: new Date(toMs - 1).toISOString() });
  return (
    <TimeChart
      title="Decisions over time"
      what="Recorded checks"
      intervals={intervals}
      layers={CHECK_LAYERS}
      addressOf={addressOf}
      range={range}
      onRange={setRange}
      marks={marks}
      columns={[
        { head: 'Recorded checks', className: 'number', cell: ({ checks }) => checks.toLocaleString() },
      ]}
    />
  );
}
