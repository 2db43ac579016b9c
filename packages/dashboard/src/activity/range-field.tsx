import { RangePicker } from '../ui/range/range-picker.js';

export { refreshMs, statisticsRange } from '../ui/range/range.js';
export { useRange } from '../ui/range/use-range.js';

/** Selects the time range of a page with statistics. */
export function RangeField() {
  return <RangePicker />;
}
