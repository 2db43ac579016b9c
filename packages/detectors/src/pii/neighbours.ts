import { classOf, DIGIT, isDigitUnit, isHexUnit, OTHER } from './text-units.js';

/** Units of a word around a place that are looked at for an address. */
const ADDRESS_REACH = 100;
/** Units of a neighbouring group that are looked at. */
const GROUP_REACH = 20;

/** How much what adjoins a finding lowers its score. */
export const LOWERED = {
  /** It is part of a longer number or code: another group adjoins it, as in a UUID or a decimal fraction. */
  part: 0.4,
  /** It is in the path or query of an address. */
  address: 0.2,
  /** A sign of currency, of number (#) or of percent adjoins it. */
  sign: 0.25,
} as const;

/** How much the score of what lies from `start` to `end` is lowered. */
export function loweredBy(text: string, start: number, end: number): number {
  let lowered = 0;
  if (isPartOfLonger(text, start, end)) lowered += LOWERED.part;
  if (hasSign(text, start, end)) lowered += LOWERED.sign;
  if (isInAddress(text, start)) lowered += LOWERED.address;
  return lowered;
}

const DASH = 45;
const DOT = 46;
const SLASH = 47;
const SPACE = 32;
const COLON = 58;

function isPartOfLonger(text: string, start: number, end: number): boolean {
  const before = text.charCodeAt(start - 1);
  const after = text.charCodeAt(end);
  if (before === DASH || before === DOT || before === SLASH) {
    if (hasDigitBefore(text, start - 2)) return true;
  }
  if (after === DASH || after === DOT || after === SLASH) {
    // The point at the end of a sentence is followed by no digit or letter.
    if (after === DOT ? isDigitUnit(text.charCodeAt(end + 1)) : hasDigitAfter(text, end + 1)) return true;
  }
  // A decimal fraction of a number with a comma, and groups of thousands.
  if (before === 44 && isDigitUnit(text.charCodeAt(start - 2)) && end - start <= 3) return true;
  return (
    isSpacedDigits(text, start - 1, -1, start, end) ||
    (after === SPACE && isSpacedDigits(text, end, 1, start, end))
  );
}

/** Whether a group with a digit ends at a place: letters alone are a word, as in `ssn-123-45-6789`. */
function hasDigitBefore(text: string, place: number): boolean {
  for (let at = place; at >= 0 && at > place - GROUP_REACH; at -= 1) {
    const unit = text.charCodeAt(at);
    if (classOf(unit) === DIGIT) return true;
    if (classOf(unit) === OTHER || !isHexUnit(unit)) return false;
  }
  return false;
}

function hasDigitAfter(text: string, place: number): boolean {
  for (let at = place; at < text.length && at < place + GROUP_REACH; at += 1) {
    const unit = text.charCodeAt(at);
    if (classOf(unit) === DIGIT) return true;
    if (classOf(unit) === OTHER) return false;
  }
  return false;
}

/** Whether groups of digits with spaces go on: `1234 4111 1111 1111 1111`. A date or a time after a number is none. */
function isSpacedDigits(text: string, space: number, step: 1 | -1, start: number, end: number): boolean {
  if (text.charCodeAt(space) !== SPACE || !text.slice(start, end).includes(' ')) return false;
  let at = space + step;
  while (isDigitUnit(text.charCodeAt(at)) && Math.abs(at - space) < GROUP_REACH) at += step;
  const unit = text.charCodeAt(at);
  return Math.abs(at - space) > 3 && unit !== SLASH && unit !== COLON && unit !== DOT && unit !== DASH;
}

function hasSign(text: string, start: number, end: number): boolean {
  const before = text[start - 1] === ' ' ? (text[start - 2] ?? '') : (text[start - 1] ?? '');
  return (before !== '' && '#$€£¥₹'.includes(before)) || text[end] === '%' || text[end] === '€';
}

/** Whether the word in which a place lies has `://` before the place. */
function isInAddress(text: string, start: number): boolean {
  const limit = Math.max(1, start - ADDRESS_REACH);
  for (let at = start - 1; at >= limit; at -= 1) {
    const unit = text.charCodeAt(at);
    if (unit <= SPACE || unit === 34 || unit === 60 || unit === 62) return false;
    if (unit === SLASH && text.charCodeAt(at - 1) === SLASH) return true;
  }
  return false;
}
