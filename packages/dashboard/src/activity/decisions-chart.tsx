import type { StatsTotals } from '@gen/enforcement/v1/observability_service_pb.js';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { Table } from '../ui/table/table.js';
import { TimeText } from '../ui/time-text.js';
import { barTotal, type IntervalCounts, intervalsOf, type Layer, type LayerWords } from './bucket-counts.js';
import { ChartBars } from './chart-bars.js';
import { intervalText, lengthText } from './chart-geometry.js';
import { ChartLegend, signOfLayer } from './chart-patterns.js';
import { type EventsOf, eventsAddress } from './events-address.js';
import { useWidth } from './use-width.js';
import './activity.css';

/** What a chart shows, in words. */
export interface ChartWords {
  readonly title: string;
  /** What is counted, in the plural. */
  readonly unit: string;
  /** The layers that it can have. */
  readonly layers: readonly Layer[];
  /** What they are called, if not by their decision. */
  readonly words: LayerWords;
}

/** The words for recorded events. */
const OF_EVENTS: ChartWords = {
  title: 'Decisions over time',
  unit: 'Recorded checks',
  layers: ['deny', 'error', 'steer', 'observe'],
  words: {},
};

interface DecisionsChartProps {
  readonly totals: StatsTotals;
  /** What is counted; the events of an interval are linked. */
  readonly of: Pick<EventsOf, 'agent' | 'control'>;
}

/** Decisions and errors of recorded events over time. */
export function DecisionsChart({ totals, of }: DecisionsChartProps) {
  const intervals = useMemo(() => intervalsOf(totals, Date.now()), [totals]);
  return <IntervalsChart intervals={intervals} of={of} as={OF_EVENTS} />;
}

interface IntervalsChartProps {
  readonly intervals: readonly IntervalCounts[];
  readonly of: Pick<EventsOf, 'agent' | 'control'>;
  readonly as: ChartWords;
}

/** Counts over time, as bars and as a table. */
export function IntervalsChart({ intervals, of, as }: IntervalsChartProps) {
  const { title, unit, layers, words } = as;
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
        <h2>{title}</h2>
        <ChartLegend layers={layers} words={words} />
      </div>
      {first !== undefined && (
        <p className="muted axis-title">
          {unit} per {lengthText(first)}
          {hasRest && ', the last bar is the rest'}; times in your zone
        </p>
      )}
      <section
        ref={element}
        aria-label={`${title}: ${intervals.length} intervals, arrow keys move between them`}
      >
        <ChartBars
          intervals={intervals}
          width={width}
          focusable={focusable}
          active={active}
          onFocus={setChosen}
          onPoint={setPointedAt}
          addressOf={addressOf}
          words={words}
        />
      </section>
      {interval !== undefined && <Values interval={interval} as={as} />}
      <details>
        <summary>As a table</summary>
        <ChartTable intervals={intervals} addressOf={addressOf} as={as} />
      </details>
    </section>
  );
}

/** The numbers of the bar that is pointed at or focused; screen readers have them as the name of the bar. */
interface ValuesProps {
  readonly interval: IntervalCounts;
  readonly as: ChartWords;
}

function Values({ interval, as: { layers, words } }: ValuesProps) {
  return (
    <p className="chart-values">
      <span className="interval">{intervalText(interval)}</span>
      {layers.map((layer) => (
        <span key={layer}>
          <DecisionBadge sign={signOfLayer(layer)} word={words[layer] ?? layer} />{' '}
          {interval.counts[layer].toLocaleString()}
        </span>
      ))}
    </p>
  );
}

interface ChartTableProps {
  readonly intervals: readonly IntervalCounts[];
  readonly addressOf: (interval: IntervalCounts) => string;
  readonly as: ChartWords;
}

function ChartTable({ intervals, addressOf, as: { title, unit, layers, words } }: ChartTableProps) {
  return (
    <Table
      label={title}
      rows={intervals.filter(({ checks }) => checks > 0)}
      keyOf={({ fromMs }) => fromMs}
      columns={[
        { head: 'From', cell: ({ fromMs }) => <TimeText time={timeOf(fromMs)} isExact /> },
        ...layers.map((layer) => ({
          head: words[layer] ?? layer,
          className: 'number',
          cell: ({ counts }: IntervalCounts) => counts[layer].toLocaleString(),
        })),
        { head: unit, className: 'number', cell: ({ checks }) => checks.toLocaleString() },
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
