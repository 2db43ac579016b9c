/** A factor above which a change is said as a multiple. */
const MULTIPLE = 10;

/** How a number differs from the one before, for example `+12 %`; undefined if there is nothing to compare it with. */
export function changeText(now: bigint, before: bigint | undefined): string | undefined {
  if (before === undefined || before === 0n) return undefined;
  const factor = Number(now) / Number(before);
  if (factor >= MULTIPLE) return `${factor.toFixed(0)} times`;
  const percent = (factor - 1) * 100;
  const text = Math.abs(percent) < MULTIPLE ? percent.toFixed(1) : percent.toFixed(0);
  if (Number(text) === 0) return 'as many';
  return `${percent > 0 ? '+' : '\u2212'}${text.replace('-', '')} %`;
}

/** The period that a range is compared with, for example `previous 24 h`. */
export function previousText(range: string): string {
  const [, count, unit] = /^(\d+)([mhd])$/.exec(range) ?? [];
  if (count === undefined || unit === undefined) return 'the same time before';
  return `previous ${count} ${{ m: 'min', h: 'h', d: count === '1' ? 'day' : 'days' }[unit]}`;
}
