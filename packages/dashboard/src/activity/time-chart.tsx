import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { fixedRange, type Range } from '../ui/range/range.js';
import type { Columns } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import { TimeText } from '../ui/time-text.js';
import { ChartBars } from './chart-bars.js';
import { barTotal, type ChartInterval, type ChartLayer, intervalText, lengthText } from './chart-geometry.js';
import { type ChartMark, MarkList, marksWithin } from './chart-marks.js';
import { ChartLegend } from './chart-patterns.js';
import { type Selection, useBrush } from './use-brush.js';
import { useWidth } from './use-width.js';
import { ZoomOut } from './zoom-out.js';
import './activity.css';

interface TimeChartProps<Interval extends ChartInterval> {
  readonly title: string;
  /** What a bar counts, for example `Recorded checks`. */
  readonly what: string;
  readonly intervals: readonly Interval[];
  /** The parts of a bar, from its bottom. */
  readonly layers: readonly ChartLayer[];
  /** Address of what an interval counts. */
  readonly addressOf: (interval: ChartInterval) => string;
  /** The range of the page, and what changes it: a selection in the chart becomes the range. */
  readonly range: Range;
  readonly onRange: (range: Range) => void;
  /** Further columns of the table. */
  readonly columns?: Columns<Interval>;
  /** Changes that can explain the counts. */
  readonly marks?: readonly ChartMark[];
  /** Shown below the title. */
  readonly children?: ReactNode;
}

/** Counts over time, as bars and as a table. Dragging over the bars, or Shift and the arrow keys, select a range. */
export function TimeChart<Interval extends ChartInterval>(props: TimeChartProps<Interval>) {
  const { title, what, intervals, layers, addressOf, range, onRange, columns = [], children } = props;
  const marks = marksWithin(props.marks ?? [], intervals);
  const [element, width] = useWidth<HTMLElement>();
  const [chosen, setChosen] = useState<number | null>(null);
  const [pointedAt, setPointedAt] = useState<number | null>(null);
  const onSelect = ({ first, last }: Selection): void =>
    onRange(fixedRange(intervals[first]?.fromMs, intervals[last]?.toMs));
  const brush = useBrush({ count: intervals.length, onSelect });
  const focusable = Math.min(chosen ?? lastWithCounts(intervals, layers), Math.max(0, intervals.length - 1));
  const active = pointedAt ?? focusable;
  const [first] = intervals;
  const last = intervals.at(-1);
  const hasRest = first !== undefined && last !== undefined && lengthOf(last) < lengthOf(first);
  const interval = intervals[active];
  return (
    <section className="card activity-chart">
      <div className="chart-head">
        <h2>{title}</h2>
        <ChartLegend layers={layers} />
      </div>
      {children}
      {first !== undefined && (
        <p className="muted axis-title">
          {what} per {lengthText(first)}
          {hasRest && ', the last bar is the rest'}; times in your zone; drag over the bars to zoom in{' '}
          <ZoomOut range={range} onRange={onRange} />
        </p>
      )}
      <section
        ref={element}
        aria-label={`${title}: ${intervals.length} intervals, arrow keys move between them, with Shift they select, Enter zooms in`}
      >
        <ChartBars
          intervals={intervals}
          layers={layers}
          brush={brush}
          marks={marks}
          width={width}
          focusable={focusable}
          active={active}
          onFocus={setChosen}
          onPoint={setPointedAt}
          addressOf={addressOf}
        />
      </section>
      {brush.selection === undefined ? (
        interval !== undefined && <Values interval={interval} layers={layers} />
      ) : (
        <SelectionText intervals={intervals} selection={brush.selection} />
      )}
      <MarkList marks={marks} />
      <details>
        <summary>As a table</summary>
        <Table
          label={title}
          rows={intervals.filter((row) => barTotal(row, layers) > 0)}
          keyOf={({ fromMs }) => fromMs}
          columns={[
            {
              head: 'From',
              cell: ({ fromMs }) => <TimeText time={new Date(fromMs).toISOString()} isExact />,
            },
            ...layers.map(({ sign, word }) => ({
              head: word,
              className: 'number',
              cell: ({ counts }: Interval) => (counts[sign] ?? 0).toLocaleString(),
            })),
            ...columns,
            {
              head: 'Events',
              cell: (row) => (
                <Link href={addressOf(row)} aria-label={`Show the events of ${intervalText(row)}`}>
                  show
                </Link>
              ),
            },
          ]}
        />
      </details>
    </section>
  );
}

interface ValuesProps {
  readonly interval: ChartInterval;
  readonly layers: readonly ChartLayer[];
}

/** The numbers of the bar that is pointed at or focused; screen readers have them as the name of the bar. */
function Values({ interval, layers }: ValuesProps) {
  return (
    <p className="chart-values">
      <span className="interval">{intervalText(interval)}</span>
      {layers.map(({ sign, word }) => (
        <span key={sign}>
          <DecisionBadge sign={sign} word={word} /> {(interval.counts[sign] ?? 0).toLocaleString()}
        </span>
      ))}
    </p>
  );
}

interface SelectionTextProps {
  readonly intervals: readonly ChartInterval[];
  readonly selection: Selection;
}

function SelectionText({ intervals, selection }: SelectionTextProps) {
  const fromMs = intervals[selection.first]?.fromMs ?? 0;
  const toMs = intervals[selection.last]?.toMs ?? fromMs;
  return (
    <p className="chart-values" role="status">
      <span className="interval">{intervalText({ fromMs, toMs })}</span> selected. Enter zooms in, Escape
      clears.
    </p>
  );
}

function lengthOf({ fromMs, toMs }: ChartInterval): number {
  return toMs - fromMs;
}

function lastWithCounts(intervals: readonly ChartInterval[], layers: readonly ChartLayer[]): number {
  const last = intervals.findLastIndex((interval) => barTotal(interval, layers) > 0);
  return last === -1 ? intervals.length - 1 : last;
}
