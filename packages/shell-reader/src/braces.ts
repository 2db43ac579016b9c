import { UNKNOWN, type WordDraft } from './word-draft.js';

/** Longest word whose braces are expanded, most braces in it, and most words that it becomes. */
const MAX_LENGTH = 1_000;
const MAX_BRACES = 16;
const MAX_WORDS = 64;

// Stand for the characters that are outside quotes.
const OPEN = '\ue001';
const COMMA = '\ue002';
const CLOSE = '\ue003';
const POINT = '\ue004';
const MARKS: Readonly<Record<string, string>> = { '{': OPEN, ',': COMMA, '}': CLOSE, '.': POINT };
const ANY_MARK = /[\ue001-\ue004]/g;
const SEQUENCE = /^(?:(-?\d{1,9})\ue004\ue004(-?\d{1,9})|([A-Za-z])\ue004\ue004([A-Za-z]))$/;

/**
 * The words that a word with braces becomes in bash, `{-r,-f}` two of them. Words that are too many, or partly known only
 * at run time, are left as they are.
 */
export function expandBraces(word: WordDraft): readonly WordDraft[] {
  const { value, marks } = word;
  if (marks === undefined || value.includes(UNKNOWN)) return [word];
  if (value.length > MAX_LENGTH || value.search(ANY_MARK) >= 0) return [word];
  let marked = '';
  let from = 0;
  let braces = 0;
  for (const at of marks) {
    const character = value[at] as string;
    if (character === '{') braces += 1;
    marked += value.slice(from, at) + (MARKS[character] as string);
    from = at + 1;
  }
  if (braces > MAX_BRACES) return [word];
  const values = expanded(marked + value.slice(from));
  if (values === undefined || (values.length === 1 && values[0] === value)) return [word];
  // A word that becomes empty without quotes is none.
  return values.filter((each) => each !== '' || word.quoted).map((each) => word.withValue(each));
}

function expanded(marked: string): string[] | undefined {
  const open = marked.indexOf(OPEN);
  if (open < 0) return [marked.replaceAll(ANY_MARK, written)];
  const commas: number[] = [];
  const close = closingOf(marked, open, commas);
  const before = marked.slice(0, open).replaceAll(ANY_MARK, written);
  if (close < 0) return joined([`${before}{`], expanded(marked.slice(open + 1)));
  const inside = marked.slice(open + 1, close);
  const rest = expanded(marked.slice(close + 1));
  if (commas.length === 0) {
    const sequence = sequenceOf(inside);
    const literal = joined([`${before}{`], joined(expanded(inside), ['}']));
    return joined(sequence?.map((each) => before + each) ?? literal, rest);
  }
  const alternatives: string[] = [];
  let from = open + 1;
  for (const comma of [...commas, close]) {
    const own = expanded(marked.slice(from, comma));
    if (own === undefined || alternatives.length + own.length > MAX_WORDS) return undefined;
    alternatives.push(...own.map((each) => before + each));
    from = comma + 1;
  }
  return joined(alternatives, rest);
}

/** The brace that closes the one at `open`; the commas between them are added to `commas`. */
function closingOf(marked: string, open: number, commas: number[]): number {
  let depth = 0;
  for (let at = open; at < marked.length; at += 1) {
    if (marked[at] === OPEN) depth += 1;
    else if (marked[at] === COMMA && depth === 1) commas.push(at);
    else if (marked[at] === CLOSE) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}

function sequenceOf(inside: string): string[] | undefined {
  const [, first, last, firstLetter, lastLetter] = SEQUENCE.exec(inside) ?? [];
  const isLetter = firstLetter !== undefined;
  const from = isLetter ? firstLetter.charCodeAt(0) : Number(first);
  const to = isLetter ? (lastLetter as string).charCodeAt(0) : Number(last);
  const count = Math.abs(to - from) + 1;
  if (!(count <= MAX_WORDS)) return undefined;
  const step = from <= to ? 1 : -1;
  return Array.from({ length: count }, (_, index) => {
    const at = from + index * step;
    return isLetter ? String.fromCharCode(at) : String(at);
  });
}

function joined(
  left: readonly string[] | undefined,
  right: readonly string[] | undefined,
): string[] | undefined {
  if (left === undefined || right === undefined || left.length * right.length > MAX_WORDS) return undefined;
  return left.flatMap((start) => right.map((end) => start + end));
}

const written = (mark: string): string => '{,}.'[mark.charCodeAt(0) - OPEN.charCodeAt(0)] as string;
