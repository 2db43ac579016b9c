const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** A span of whole seconds in the largest unit that is exact, for example `90 minutes`. */
export function spanText(seconds: number): string {
  const [unit, size] = UNITS.find(([, length]) => seconds >= length && seconds % length === 0) ?? [
    'second',
    1,
  ];
  const count = seconds / size;
  return `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`;
}
