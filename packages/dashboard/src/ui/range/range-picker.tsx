import { IconClock } from '@tabler/icons-react';
import { useSearchParams } from 'wouter';
import { Popover } from '../popover/popover.js';
import { TIME_RANGES } from '../time-range.js';
import { FixedRangeForm } from './fixed-range-form.js';
import { MAX_STATISTICS_DAYS, type Range, rangeProblem } from './range.js';
import { rangeText } from './range-text.js';
import { DEFAULT_RANGE, useRange } from './use-range.js';
import './range.css';

interface RangePickerProps {
  /** The range of an address without one. An empty one is any time, which can then be chosen. */
  readonly fallback?: Range;
}

/** Selects the time range of the page: one that ends now, or one from a time to another. */
export function RangePicker({ fallback = DEFAULT_RANGE }: RangePickerProps) {
  const [range, setRange] = useRange(fallback);
  const problem = rangeProblem(useSearchParams()[0]);
  return (
    <>
      <RangeButton range={range} onChange={setRange} hasAnyTime={fallback === ''} />
      {problem !== undefined && (
        <p className="problem range-problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

interface RangeButtonProps {
  readonly range: Range;
  readonly onChange: (range: Range) => void;
  /** Whether any time can be chosen, and a range without a beginning or an end. */
  readonly hasAnyTime: boolean;
}

/** The same for a range that is kept elsewhere. */
export function RangeButton({ range, onChange, hasAnyTime }: RangeButtonProps) {
  const text = rangeText(range);
  const presets = [...(hasAnyTime ? [['', 'Any time'] as const] : []), ...TIME_RANGES];
  return (
    <Popover
      label="Time range"
      buttonLabel={`Range: ${text}`}
      button={
        <>
          <IconClock size={16} aria-hidden="true" />
          {text}
        </>
      }
    >
      {(close) => {
        const choose = (next: Range): void => {
          onChange(next);
          close();
        };
        return (
          <div className="range-panel">
            <fieldset className="range-presets">
              <legend>Last</legend>
              {presets.map(([preset, name]) => (
                <button
                  key={preset}
                  type="button"
                  aria-pressed={preset === range}
                  {...(preset === range ? { 'data-first': true } : {})}
                  onClick={() => choose(preset)}
                >
                  {name}
                </button>
              ))}
            </fieldset>
            <FixedRangeForm
              range={range}
              isOpenEnded={hasAnyTime}
              {...(hasAnyTime ? {} : { maxDays: MAX_STATISTICS_DAYS })}
              onApply={choose}
            />
          </div>
        );
      }}
    </Popover>
  );
}
