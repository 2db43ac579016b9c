/** Time of a version, in milliseconds. */
type TimeOfVersion = (versionNum: number) => Promise<number>;

/**
 * The number of the version that was current at a time; undefined if the first one is later. Version numbers start at 1
 * and have no gaps, so that it is found with few questions, however many versions there are.
 */
export async function versionAt(
  timeMs: number,
  newest: number,
  timeOf: TimeOfVersion,
): Promise<number | undefined> {
  // Most events are younger than the last change.
  if (newest < 1) return undefined;
  if ((await timeOf(newest)) <= timeMs) return newest;
  let [low, high] = [0, newest];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if ((await timeOf(middle)) <= timeMs) low = middle;
    else high = middle;
  }
  return low === 0 ? undefined : low;
}
