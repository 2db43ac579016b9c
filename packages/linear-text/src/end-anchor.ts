import { NodeOp, type PatternNode, parsePattern } from './engine.js';

const NEWLINE = 10;
/** Deepest nesting inspected: counted repetitions nest once for each optional copy. */
const MAX_DEPTH = 100;

/**
 * Whether a valid pattern has a `$` or `\z` that cannot follow a line break, so that it does not match a text
 * with one more line break than a matching text: in `\s*$` it can. Also false when the pattern is nested too
 * deep to decide.
 */
export function endsAtTextOnly(pattern: string): boolean {
  return hasBareEnd(parsePattern(pattern, false), 0);
}

function hasBareEnd(node: PatternNode, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  if (node.op === NodeOp.END_TEXT) return true;
  return node.subs.some((sub, index) => {
    const before = node.op === NodeOp.CONCAT ? node.subs[index - 1] : undefined;
    if (sub.op === NodeOp.END_TEXT && before !== undefined && mayEndWithNewline(before, depth + 1))
      return false;
    return hasBareEnd(sub, depth + 1);
  });
}

/** Whether a part, repetitions included, may match a text that ends with a line break. */
function mayEndWithNewline(node: PatternNode, depth: number): boolean {
  if (depth > MAX_DEPTH) return true;
  const { ANY_CHAR, CHAR_CLASS, LITERAL, CONCAT } = NodeOp;
  const last = node.subs.at(-1);
  if (node.op === ANY_CHAR) return true;
  if (node.op === LITERAL) return node.runes[node.runes.length - 1] === NEWLINE;
  if (node.op === CHAR_CLASS) return hasNewline(node.runes);
  if (node.op === CONCAT) return last !== undefined && mayEndWithNewline(last, depth + 1);
  return node.subs.some((sub) => mayEndWithNewline(sub, depth + 1));
}

function hasNewline(ranges: ArrayLike<number>): boolean {
  for (let at = 0; at + 1 < ranges.length; at += 2) {
    if ((ranges[at] ?? 0) <= NEWLINE && NEWLINE <= (ranges[at + 1] ?? 0)) return true;
  }
  return false;
}
