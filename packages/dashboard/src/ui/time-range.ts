/** The time ranges of pages with one, as their statistics know them. */
export const TIME_RANGES = [
  ['5m', '5 minutes'],
  ['15m', '15 minutes'],
  ['1h', '1 hour'],
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['180d', '180 days'],
  ['365d', '1 year'],
] as const;

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Length of a range such as `24h` in milliseconds; undefined for any other text. */
export function rangeMs(range: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(range) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}
