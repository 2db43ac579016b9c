import { NodeOp, type PatternNode, parsePattern } from './engine.js';
import { foldCase } from './fold-case.js';

/** Most literals of one pattern: more is a word list, which belongs in the `list` evaluator. */
export const MAX_LITERALS = 256;
/** Most texts that a part of a pattern is expanded to. */
const MAX_EXACT = 16;
/** Longest literal worth searching for, in code units: a longer one is cut, the rest is still required. */
const MAX_LITERAL_LENGTH = 32;
/** Deepest nesting inspected: counted repetitions nest once for each optional copy. */
const MAX_DEPTH = 100;
/** Most nodes inspected. */
const MAX_NODES = 20_000;

/**
 * Known texts that a part of a pattern matches, all folded. `exact`: the complete set, null when it is too
 * large. `required`: each contains one of these, null when none are known.
 */
interface Knowledge {
  readonly exact: readonly string[] | null;
  readonly required: readonly string[] | null;
}

const NOTHING: Knowledge = { exact: null, required: null };
const EMPTY: Knowledge = { exact: [''], required: null };

/**
 * Literals of which at least one occurs in the folded form of every text with a match; null when no such
 * literals are known or they are too many or too common to be useful. Assertions are treated as empty, and a
 * case-sensitive literal as its folded form: both only admit more texts. Unsupported nodes are treated as
 * matching anything.
 */
export function requiredLiterals(pattern: string, ignoreCase: boolean): readonly string[] | null {
  let nodes = 0;

  const know = (node: PatternNode, depth: number): Knowledge => {
    nodes += 1;
    if (depth > MAX_DEPTH || nodes > MAX_NODES) return NOTHING;
    const inner = () => {
      const [only] = node.subs;
      return only === undefined || node.subs.length > 1 ? NOTHING : know(only, depth + 1);
    };
    switch (node.op) {
      case NodeOp.EMPTY_MATCH:
      case NodeOp.BEGIN_LINE:
      case NodeOp.END_LINE:
      case NodeOp.BEGIN_TEXT:
      case NodeOp.END_TEXT:
      case NodeOp.WORD_BOUNDARY:
      case NodeOp.NO_WORD_BOUNDARY:
        return EMPTY;
      case NodeOp.LITERAL:
        return literal(node.runes);
      case NodeOp.CHAR_CLASS:
        return characterClass(node.runes);
      case NodeOp.CAPTURE:
        return inner();
      case NodeOp.PLUS:
        return { exact: null, required: requirement(inner()) };
      case NodeOp.QUEST: {
        const { exact } = inner();
        return exact === null ? NOTHING : bounded(new Set([...exact, '']));
      }
      case NodeOp.CONCAT:
        return sequence(node.subs.map((sub) => know(sub, depth + 1)));
      case NodeOp.ALTERNATE:
        return alternatives(node.subs.map((sub) => know(sub, depth + 1)));
      default:
        return NOTHING;
    }
  };

  const found = requirement(know(parsePattern(pattern, ignoreCase), 0));
  return found !== null && usefulness(found) > 0 ? found : null;
}

/** Whether one of the literals occurs in a folded text. */
export function containsAny(folded: string, literals: readonly string[]): boolean {
  return literals.some((text) => folded.includes(text));
}

function literal(runes: ArrayLike<number>): Knowledge {
  const codes = Array.from(runes);
  if (codes.some(isUnsafe)) return NOTHING;
  let text = '';
  for (const code of codes) text += String.fromCodePoint(code);
  return { exact: [foldCase(text)], required: null };
}

function characterClass(runes: ArrayLike<number>): Knowledge {
  const members = new Set<string>();
  let visited = 0;
  for (let at = 0; at + 1 < runes.length; at += 2) {
    for (let code = runes[at] ?? 0; code <= (runes[at + 1] ?? 0); code += 1) {
      visited += 1;
      if (visited > MAX_EXACT * 4 || isUnsafe(code)) return NOTHING;
      members.add(foldCase(String.fromCodePoint(code)));
      if (members.size > MAX_EXACT) return NOTHING;
    }
  }
  // A class without members matches nothing; this is not worth tracking.
  return members.size === 0 ? NOTHING : bounded(members);
}

/** Halves of surrogate pairs are literal only next to certain neighbours. */
function isUnsafe(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff;
}

function bounded(texts: ReadonlySet<string>): Knowledge {
  const exact = [...texts];
  return exact.length <= MAX_EXACT ? { exact, required: null } : { exact: null, required: usable(exact) };
}

/** Parts in sequence: adjacent parts with exact texts are joined, and the most useful run is kept. */
function sequence(parts: readonly Knowledge[]): Knowledge {
  let run: readonly string[] = [''];
  let best: readonly string[] | null = null;
  let complete = true;
  const offer = (candidate: readonly string[] | null) => {
    if (candidate !== null && (best === null || usefulness(candidate) > usefulness(best))) best = candidate;
  };
  for (const part of parts) {
    if (part.exact === null) {
      offer(usable(run));
      offer(part.required);
      run = [''];
      complete = false;
      continue;
    }
    // Longer texts filter better, more texts worse: both the current run and the longer one are candidates.
    const joined = join(run, part.exact);
    if (joined === null || joined.length > run.length) offer(usable(run));
    if (joined === null) {
      complete = false;
      run = part.exact;
    } else {
      run = joined;
    }
  }
  offer(usable(run));
  return { exact: complete ? run : null, required: best };
}

/** Each text of `left` followed by each of `right`; null when too many or longer than useful. */
function join(left: readonly string[], right: readonly string[]): readonly string[] | null {
  if (left.length * right.length > MAX_EXACT) return null;
  if (left.every((text) => text.length >= MAX_LITERAL_LENGTH)) return null;
  if (left.length === 1 && left[0] === '') return right;
  if (left.length === 1 && right.length === 1) return [`${left[0]}${right[0]}`];
  return [...new Set(left.flatMap((start) => right.map((end) => start + end)))];
}

function alternatives(parts: readonly Knowledge[]): Knowledge {
  if (parts.every((part) => part.exact !== null)) {
    const exact = new Set(parts.flatMap((part) => part.exact ?? []));
    if (exact.size <= MAX_EXACT) return { exact: [...exact], required: null };
  }
  const required: string[] = [];
  for (const part of parts) {
    const one = requirement(part);
    if (one === null) return NOTHING;
    required.push(...one);
    if (required.length > MAX_LITERALS * 2) return NOTHING;
  }
  return { exact: null, required: usable(required) };
}

function requirement(known: Knowledge): readonly string[] | null {
  const spelled = known.exact === null ? null : usable(known.exact);
  if (spelled === null || known.required === null) return spelled ?? known.required;
  return usefulness(spelled) >= usefulness(known.required) ? spelled : known.required;
}

/** The literals cut to length and without those that contain another; null when one is empty. */
function usable(texts: readonly string[]): readonly string[] | null {
  const [only] = texts;
  if (texts.length === 1 && only !== undefined) return only === '' ? null : [cutToLength(only)];
  const cut = [...new Set(texts.map(cutToLength))].sort((left, right) => left.length - right.length);
  if (cut.length === 0 || cut[0] === '' || cut.length > MAX_LITERALS) return null;
  const kept: string[] = [];
  for (const text of cut) if (!containsAny(text, kept)) kept.push(text);
  return kept;
}

function cutToLength(text: string): string {
  if (text.length <= MAX_LITERAL_LENGTH) return text;
  const splitsPair = (text.codePointAt(MAX_LITERAL_LENGTH - 1) ?? 0) > 0xffff;
  return text.slice(0, splitsPair ? MAX_LITERAL_LENGTH - 1 : MAX_LITERAL_LENGTH);
}

/**
 * Filter quality of a set of literals, roughly the bits of information of its least rare text; 0 for sets
 * that most texts contain. A letter or a digit counts about three bits, other characters five.
 */
function usefulness(literals: readonly string[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (const text of literals) {
    let bits = 0;
    for (let at = 0; at < text.length; at += 1) bits += COMMON.has(text.charCodeAt(at)) ? 3 : 5;
    least = Math.min(least, bits);
  }
  return Math.max(0, least - Math.log2(literals.length) - 4);
}

const COMMON = new Set(
  Array.from('abcdefghijklmnopqrstuvwxyz0123456789 .,"\n', (text) => text.charCodeAt(0)),
);
