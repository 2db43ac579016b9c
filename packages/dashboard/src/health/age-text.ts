const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** An age in words, for example `less than a second` or `3 minutes`. */
export function ageText(seconds: number): string {
  if (seconds < 1) return 'less than a second';
  const found = UNITS.find(([, size]) => seconds >= size);
  const [unit, size] = found ?? ['second', 1];
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
