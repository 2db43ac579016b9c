/**
 * Throws a TypeError for an option that does not exist: a misspelled one would have no effect without a word. Names the
 * one that was probably meant.
 */
export function checkOptionNames(of: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const meant = known.find((one) => isClose(one.toLowerCase(), name.toLowerCase()));
    const hint = meant === undefined ? `known are ${known.join(', ')}` : `did you mean "${meant}"?`;
    throw new TypeError(`${of}: the option "${name}" does not exist; ${hint}`);
  }
}

/** Whether two names differ in at most two letters that are added, left out or replaced. */
function isClose(left: string, right: string): boolean {
  if (Math.abs(left.length - right.length) > 2) return false;
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let at = 1; at <= left.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= right.length; to += 1) {
      const replaced = (row[to - 1] ?? 0) + (left[at - 1] === right[to - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1));
    }
    row = next;
  }
  return (row[right.length] ?? 0) <= 2;
}
