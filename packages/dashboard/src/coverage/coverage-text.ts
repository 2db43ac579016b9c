import { Stage } from '@gen/enforcement/v1/control_pb.js';
import { spanText } from '../ui/span-text.js';

export function stageText(stage: Stage): string {
  return stage === Stage.PRE ? 'pre' : 'post';
}

/** Intervals to choose from, in seconds, with their texts. */
const INTERVALS = [300, 900, 3_600, 86_400, 604_800] as const;

/** The choices of an interval: no expectation, the usual ones, and the one that is set. */
export function intervalChoices(current: number | undefined): (readonly [string, string])[] {
  const all = new Set<number>(INTERVALS);
  if (current !== undefined) all.add(current);
  const sorted = [...all].sort((one, other) => one - other);
  return [['', 'not expected'], ...sorted.map((seconds) => [String(seconds), spanText(seconds)] as const)];
}
