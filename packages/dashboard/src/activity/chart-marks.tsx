import { Link } from 'wouter';
import { ClockText } from '../ui/time-text.js';
import type { ChartInterval } from './chart-geometry.js';

/** A change at a time, which can explain what a chart shows. */
export interface ChartMark {
  readonly atMs: number;
  /** For example `version 3`. */
  readonly text: string;
  /** Address of what changed. */
  readonly href: string;
}

const MAX_LISTED = 5;

/** The marks within the intervals of a chart, latest first. */
export function marksWithin(
  marks: readonly ChartMark[],
  intervals: readonly ChartInterval[],
): readonly ChartMark[] {
  const fromMs = intervals[0]?.fromMs ?? 0;
  const toMs = intervals.at(-1)?.toMs ?? 0;
  return marks.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).sort((a, b) => b.atMs - a.atMs);
}

/** Place of a mark, in intervals from the first one. */
export function placeOfMark({ atMs }: ChartMark, intervals: readonly ChartInterval[]): number {
  const at = intervals.findIndex(({ toMs }) => atMs < toMs);
  const interval = intervals[at];
  if (interval === undefined) return intervals.length;
  return at + Math.max(0, atMs - interval.fromMs) / Math.max(1, interval.toMs - interval.fromMs);
}

/** The marks as text: the lines in the chart are for the eye only. */
export function MarkList({ marks }: { readonly marks: readonly ChartMark[] }) {
  if (marks.length === 0) return null;
  return (
    <p className="muted chart-marks">
      Changes (dashed lines):{' '}
      {marks.slice(0, MAX_LISTED).map(({ atMs, text, href }, index) => (
        <span key={href}>
          {index > 0 && ', '}
          <Link href={href}>{text}</Link> at <ClockText time={new Date(atMs).toISOString()} />
        </span>
      ))}
      {marks.length > MAX_LISTED && `, and ${marks.length - MAX_LISTED} before`}
    </p>
  );
}
