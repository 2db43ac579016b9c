import { type KeyboardEvent, useId, useRef } from 'react';
import { Link } from 'wouter';
import { countText } from '../ui/numbers.js';
import { countsText, type IntervalCounts, type LayerWords } from './bucket-counts.js';
import {
  axisLabel,
  axisTicks,
  barParts,
  highestBar,
  intervalText,
  labelledIntervals,
} from './chart-geometry.js';
import { ChartPatterns } from './chart-patterns.js';

const HEIGHT = 160;
const TOP = 8;
const LEFT = 44;
const BOTTOM = 22;
const LABEL_PIXELS = 76;

interface ChartBarsProps {
  readonly intervals: readonly IntervalCounts[];
  /** Width in pixels. */
  readonly width: number;
  /** The bar that can be reached with Tab. */
  readonly focusable: number;
  /** The bar whose numbers are shown. */
  readonly active: number;
  readonly onFocus: (index: number) => void;
  /** The bar that is pointed at; null when there is none. */
  readonly onPoint: (index: number | null) => void;
  /** Address of the events of an interval. */
  readonly addressOf: (interval: IntervalCounts) => string;
  readonly words: LayerWords;
}

/**
 * The bars of a chart with its axes. Each bar is a link to its events, with its numbers as its name; one of them can be
 * reached with Tab, the others from there with the arrow keys.
 */
export function ChartBars(props: ChartBarsProps) {
  const { intervals, width, focusable, active, onFocus, onPoint, addressOf, words } = props;
  const id = useId();
  const svg = useRef<SVGSVGElement>(null);
  const ticks = axisTicks(highestBar(intervals));
  const top = ticks.at(-1) ?? 1;
  const inner = Math.max(1, width - LEFT);
  const step = inner / Math.max(1, intervals.length);
  const spanMs = (intervals.at(-1)?.toMs ?? 0) - (intervals[0]?.fromMs ?? 0);
  const yOf = (value: number) => TOP + HEIGHT - (value / top) * HEIGHT;
  const onKeyDown = (event: KeyboardEvent): void => {
    const moves: Record<string, number> = {
      ArrowRight: Math.min(intervals.length - 1, focusable + 1),
      ArrowLeft: Math.max(0, focusable - 1),
      Home: 0,
      End: intervals.length - 1,
    };
    const next = moves[event.key];
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    onPoint(null);
    onFocus(next);
    svg.current?.querySelectorAll<SVGAElement>('a')[next]?.focus();
  };
  return (
    <svg ref={svg} role="presentation" width={width} height={TOP + HEIGHT + BOTTOM}>
      <ChartPatterns id={id} />
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it is focusable; the bars have the numbers as names */}
      <g aria-hidden="true">
        {ticks.map((tick) => (
          <g key={tick}>
            <line className="grid" x1={LEFT} x2={width} y1={yOf(tick)} y2={yOf(tick)} />
            <text className="axis-text" x={LEFT - 6} y={yOf(tick) + 4} textAnchor="end">
              {countText(tick)}
            </text>
          </g>
        ))}
        {labelledIntervals(intervals.length, inner, LABEL_PIXELS).map((index) => {
          const interval = intervals[index];
          if (interval === undefined) return null;
          const x = LEFT + index * step;
          return (
            <g key={index}>
              <line className="grid" x1={x} x2={x} y1={TOP + HEIGHT} y2={TOP + HEIGHT + 4} />
              <text className="axis-text" x={x} y={TOP + HEIGHT + 17}>
                {axisLabel(interval, spanMs)}
              </text>
            </g>
          );
        })}
      </g>
      {intervals.map((interval, index) => (
        <Link
          key={interval.fromMs}
          href={addressOf(interval)}
          className={index === active ? 'bar active' : 'bar'}
          tabIndex={index === focusable ? 0 : -1}
          aria-label={`${intervalText(interval)}: ${countsText(interval, words)}`}
          onFocus={() => onFocus(index)}
          onMouseEnter={() => onPoint(index)}
          onMouseLeave={() => onPoint(null)}
          onKeyDown={onKeyDown}
        >
          <rect className="hit" x={LEFT + index * step} y={TOP} width={step} height={HEIGHT} />
          {barParts(interval, top, HEIGHT).map(({ layer, y, height }) => (
            <rect
              key={layer}
              className={`part ${layer}`}
              fill={`url(#${id}-${layer})`}
              x={LEFT + index * step + step * 0.12}
              y={TOP + y}
              width={step * 0.76}
              height={height}
            />
          ))}
        </Link>
      ))}
    </svg>
  );
}
