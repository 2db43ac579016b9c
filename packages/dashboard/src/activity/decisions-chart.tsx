import type { StatsTotals } from '@gen/enforcement/v1/observability_service_pb.js';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { Table } from '../ui/table/table.js';
import { TimeText } from '../ui/time-text.js';
import { barTotal, type IntervalCounts, intervalsOf, LAYERS } from './bucket-counts.js';
import { ChartBars } from './chart-bars.js';
import { intervalText, lengthText } from './chart-geometry.js';
import { ChartLegend } from './chart-patterns.js';
import { type EventsOf, eventsAddress } from './events-address.js';
import { useWidth } from './use-width.js';
import './activity.css';

const TITLE = 'Decisions over time';

interface DecisionsChartProps {
  readonly totals: StatsTotals;
  /** What is counted; the events of an interval are linked. */
  readonly of: Pick<EventsOf, 'agent' | 'control'>;
}

/** Decisions and errors over time, as bars and as a table. */
export function DecisionsChart({ totals, of }: DecisionsChartProps) {
  const intervals = useMemo(() => intervalsOf(totals, Date.now()), [totals]);
  const [element, width] = useWidth<HTMLElement>();
  const [chosen, setChosen] = useState<number | null>(null);
  const [pointedAt, setPointedAt] = useState<number | null>(null);
  const focusable = Math.min(chosen ?? lastWithEvents(intervals), Math.max(0, intervals.length - 1));
  const active = pointedAt ?? focusable;
  const addressOf = ({ fromMs, toMs }: IntervalCounts) =>
    // The end of a time filter is inclusive.
    eventsAddress({ ...of, from: timeOf(fromMs), to: timeOf(toMs - 1) });
  const [first] = intervals;
  const last = intervals.at(-1);
  const hasRest = first !== undefined && last !== undefined && lengthOf(last) < lengthOf(first);
  const interval = intervals[active];
  return (
    <section className="card activity-chart">
      <div className="chart-head">
        <h2>{TITLE}</h2>
        <ChartLegend />
      </div>
      {first !== undefined && (
        <p className="muted axis-title">
          Recorded checks per {lengthText(first)}
          {hasRest && ', the last bar is the rest'}; times in your zone
        </p>
      )}
      <section
        ref={element}
        aria-label={`${TITLE}: ${intervals.length} intervals, arrow keys move between them`}
      >
        <ChartBars
          intervals={intervals}
          width={width}
          focusable={focusable}
          active={active}
          onFocus={setChosen}
          onPoint={setPointedAt}
          addressOf={addressOf}
        />
      </section>
      {interval !== undefined && <Values interval={interval} />}
      <details>
        <summary>As a table</summary>
        <ChartTable intervals={intervals} addressOf={addressOf} />
      </details>
    </section>
  );
}

/** The numbers of the bar that is pointed at or focused; screen readers have them as the name of the bar. */
function Values({ interval }: { readonly interval: IntervalCounts }) {
  return (
    <p className="chart-values">
      <span className="interval">{intervalText(interval)}</span>
      {LAYERS.map((layer) => (
        <span key={layer}>
          <DecisionBadge sign={layer} /> {interval.counts[layer].toLocaleString()}
        </span>
      ))}
    </p>
  );
}

interface ChartTableProps {
  readonly intervals: readonly IntervalCounts[];
  readonly addressOf: (interval: IntervalCounts) => string;
}

function ChartTable({ intervals, addressOf }: ChartTableProps) {
  return (
    <Table
      label={TITLE}
      rows={intervals.filter(({ checks }) => checks > 0)}
      keyOf={({ fromMs }) => fromMs}
      columns={[
        { head: 'From', cell: ({ fromMs }) => <TimeText time={timeOf(fromMs)} isExact /> },
        ...LAYERS.map((layer) => ({
          head: layer,
          className: 'number',
          cell: ({ counts }: IntervalCounts) => counts[layer].toLocaleString(),
        })),
        { head: 'Recorded checks', className: 'number', cell: ({ checks }) => checks.toLocaleString() },
        {
          head: 'Events',
          cell: (interval) => (
            <Link href={addressOf(interval)} aria-label={`Show the events of ${intervalText(interval)}`}>
              show
            </Link>
          ),
        },
      ]}
    />
  );
}

function lengthOf({ fromMs, toMs }: IntervalCounts): number {
  return toMs - fromMs;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

function lastWithEvents(intervals: readonly IntervalCounts[]): number {
  const last = intervals.findLastIndex((interval) => barTotal(interval) > 0);
  return last === -1 ? intervals.length - 1 : last;
}
