import type { TextSpan } from './evaluator.js';

/** A part of a text with what replaces it. */
export interface Replacement extends TextSpan {
  readonly with: string;
}

/** Throws unless a span is within a text. Evaluators may be third-party code, so their spans are checked, not trusted. */
export function checkSpan({ start, end }: TextSpan, text: string): void {
  const isWithin = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && end <= text.length;
  if (!isWithin || start > end) throw new Error('the evaluator says that it matches outside of the text');
}

/**
 * The text with these parts replaced; they are in the order of their controls. Parts that overlap are one, which is replaced as
 * the first of them says; a part that begins or ends within a surrogate pair is widened by its other half. Empty parts are
 * ignored.
 */
export function replaceSpans(text: string, parts: readonly Replacement[]): string {
  const inOrder = parts
    .filter(({ start, end }) => start < end)
    .map((part, order) => ({ ...widened(part, text), order }))
    .sort((left, right) => left.start - right.start || left.order - right.order);
  let made = '';
  let kept = 0;
  let open: (typeof inOrder)[number] | null = null;
  const close = (): void => {
    if (open === null) return;
    made += text.slice(kept, open.start) + open.with;
    kept = open.end;
  };
  for (const part of inOrder) {
    if (open !== null && part.start < open.end) {
      const first: Replacement & { order: number } = part.order < open.order ? part : open;
      open = { start: open.start, end: Math.max(open.end, part.end), with: first.with, order: first.order };
    } else {
      close();
      open = part;
    }
  }
  close();
  return made + text.slice(kept);
}

function widened({ start, end, with: replacement }: Replacement, text: string): Replacement {
  return {
    start: isWithinPair(text, start) ? start - 1 : start,
    end: isWithinPair(text, end) ? end + 1 : end,
    with: replacement,
  };
}

/** Whether the code units on both sides of a place are one character. */
function isWithinPair(text: string, at: number): boolean {
  return isBetween(text.charCodeAt(at - 1), 0xd800) && isBetween(text.charCodeAt(at), 0xdc00);
}

function isBetween(unit: number, first: number): boolean {
  return (unit & 0xfc00) === first;
}
