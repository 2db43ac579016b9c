import { SelectField } from '../ui/fields/fields.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { rangeMs, TIME_RANGES } from '../ui/time-range.js';

const DEFAULT_RANGE = '24h';

/** The time range of the page, which is part of the address, and a function that changes it. */
export function useRange(): readonly [string, (range: string) => void] {
  const { get, set } = useAddressFilter();
  const given = get('range');
  const range = TIME_RANGES.some(([known]) => known === given) ? given : DEFAULT_RANGE;
  return [range, (next) => set('range', next === DEFAULT_RANGE ? '' : next)];
}

/** Selects the time range of the page. */
export function RangeField() {
  const [range, setRange] = useRange();
  return <SelectField label="Range" value={range} options={TIME_RANGES} onChange={setRange} />;
}

/** Time between two requests for the statistics of a range, in milliseconds. */
export function refreshMs(range: string): number {
  return (rangeMs(range) ?? 0) <= 3_600_000 ? 5_000 : 15_000;
}
