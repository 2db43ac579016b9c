import { type KeyboardEvent, type PointerEvent, useId, useRef } from 'react';
import { Link } from 'wouter';
import { countText } from '../ui/numbers.js';
import {
  axisLabels,
  axisTicks,
  barParts,
  type ChartInterval,
  type ChartLayer,
  countsText,
  highestBar,
  intervalText,
} from './chart-geometry.js';
import { type ChartMark, placeOfMark } from './chart-marks.js';
import { ChartPatterns } from './chart-patterns.js';
import type { Brush } from './use-brush.js';

const HEIGHT = 160;
const TOP = 8;
const LEFT = 44;
const BOTTOM = 22;
const LABEL_PIXELS = 76;
/** Smaller parts are plain: of a pattern they would show fragments, which shimmer from bar to bar. */
const LEAST_PATTERN_PIXELS = 12;

interface ChartBarsProps {
  readonly intervals: readonly ChartInterval[];
  readonly layers: readonly ChartLayer[];
  readonly brush: Brush;
  readonly marks: readonly ChartMark[];
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
  readonly addressOf: (interval: ChartInterval) => string;
}

/**
 * The bars of a chart with its axes. Each bar is a link to its events, with its numbers as its name; one of them can be
 * reached with Tab, the others from there with the arrow keys. Intervals are selected by dragging, or with Shift and the
 * arrow keys.
 */
export function ChartBars(props: ChartBarsProps) {
  const { intervals, layers, brush, marks, width, focusable, active, onFocus, onPoint, addressOf } = props;
  const id = useId();
  const svg = useRef<SVGSVGElement>(null);
  const ticks = axisTicks(highestBar(intervals, layers));
  const top = ticks.at(-1) ?? 1;
  const inner = Math.max(1, width - LEFT);
  const step = inner / Math.max(1, intervals.length);
  const yOf = (value: number) => TOP + HEIGHT - (value / top) * HEIGHT;
  const onKeyDown = (event: KeyboardEvent): void => {
    const moves: Record<string, number> = {
      ArrowRight: Math.min(intervals.length - 1, focusable + 1),
      ArrowLeft: Math.max(0, focusable - 1),
      Home: 0,
      End: intervals.length - 1,
    };
    const next = moves[event.key];
    if (brush.takesKey(event, focusable, next)) {
      event.preventDefault();
      return;
    }
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    onPoint(null);
    onFocus(next);
    svg.current?.querySelectorAll<SVGAElement>('a')[next]?.focus();
  };
  const indexAt = ({ clientX }: PointerEvent): number => {
    const left = svg.current?.getBoundingClientRect().left ?? 0;
    const index = Math.floor((clientX - left - LEFT) / step);
    return Math.min(intervals.length - 1, Math.max(0, index));
  };
  const { selection } = brush;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the bars have the keys for the same
    <svg
      ref={svg}
      role="presentation"
      width={width}
      height={TOP + HEIGHT + BOTTOM}
      onPointerDown={(event) => brush.onPointerDown(event, indexAt(event))}
      onPointerMove={(event) => brush.onPointerMove(event, indexAt(event))}
      onPointerUp={brush.onPointerUp}
      onClickCapture={(event) => {
        if (!brush.takesClick()) return;
        event.preventDefault();
        event.stopPropagation();
      }}
      onDragStart={(event) => event.preventDefault()}
    >
      <ChartPatterns id={id} layers={layers} />
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
        {axisLabels(intervals, inner, LABEL_PIXELS).map(({ index, text }) => {
          const x = LEFT + index * step;
          return (
            <g key={index}>
              <line className="grid" x1={x} x2={x} y1={TOP + HEIGHT} y2={TOP + HEIGHT + 4} />
              <text className="axis-text" x={x} y={TOP + HEIGHT + 17}>
                {text}
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
          aria-label={`${intervalText(interval)}: ${countsText(interval, layers)}`}
          onFocus={() => onFocus(index)}
          onMouseEnter={() => onPoint(index)}
          onMouseLeave={() => onPoint(null)}
          onKeyDown={onKeyDown}
        >
          <rect className="hit" x={LEFT + index * step} y={TOP} width={step} height={HEIGHT} />
          {barParts(interval, layers, top, HEIGHT).map(({ layer, y, height }) => (
            <rect
              key={layer}
              className={height < LEAST_PATTERN_PIXELS ? `part plain ${layer}` : `part ${layer}`}
              fill={height < LEAST_PATTERN_PIXELS ? undefined : `url(#${id}-${layer})`}
              x={LEFT + index * step + step * 0.12}
              y={TOP + y}
              width={step * 0.76}
              height={height}
            />
          ))}
        </Link>
      ))}
      {marks.map((mark) => {
        const x = LEFT + placeOfMark(mark, intervals) * step;
        return <line key={mark.href} className="mark" x1={x} x2={x} y1={TOP} y2={TOP + HEIGHT} />;
      })}
      {selection !== undefined && (
        <rect
          className="brush"
          x={LEFT + selection.first * step}
          y={TOP}
          width={(selection.last - selection.first + 1) * step}
          height={HEIGHT}
        />
      )}
    </svg>
  );
}
