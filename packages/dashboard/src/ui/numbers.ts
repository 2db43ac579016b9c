/** A count as text, for example `1.2 M`. */
export function countText(count: bigint | number): string {
  return new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(count);
}

/** A share as text, for example `0.8 %`. */
export function shareText(part: bigint, whole: bigint): string {
  if (whole === 0n) return '–';
  return `${((Number(part) / Number(whole)) * 100).toFixed(1)} %`;
}

/** A number of things, for example `1 agent`, `2,000 agents` or, with a plural of its own, `3 policies`. */
export function numberOf(count: number, what: string, plural = `${what}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? what : plural}`;
}
