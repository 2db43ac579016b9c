/** The key of the hashes is drawn at start, so that nobody can prepare lists that all have the same one. */
const hashKey = Math.floor(Math.random() * 0x7fffffff);

/** A hash of a list of integers. */
export function hashOf(list: ArrayLike<number>, first = 0): number {
  let hash = hashKey ^ first;
  for (let at = 0; at < list.length; at += 1) {
    hash = Math.imul(hash ^ (list[at] ?? 0), 0x85ebca6b);
    hash ^= hash >>> 15;
  }
  return hash;
}

/** Whether two lists have the same integers in the same order. */
export function areEqual(left: ArrayLike<number>, right: ArrayLike<number>): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at += 1) if (left[at] !== right[at]) return false;
  return true;
}
