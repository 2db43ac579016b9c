import { findEmail } from './find-email.js';
import { findIban } from './find-iban.js';
import { findColonAddress, findDashedMac, findIpv4 } from './find-network.js';
import { findInternational, findNational, type PhoneRegion } from './find-phone.js';
import { findShapes } from './find-shapes.js';
import type { PiiSearch } from './pii-search.js';
import { MAX_GROUP_LENGTH, type ShapeNode } from './shape-trie.js';
import { CLASSES, DIGIT, isDigitUnit, isHexUnit, OTHER } from './text-units.js';

/** What is searched for. */
export interface Finders {
  readonly shapes: ShapeNode;
  readonly email: boolean;
  readonly iban: boolean;
  readonly ip: boolean;
  readonly mac: boolean;
  /** Null when telephone numbers are not searched for. */
  readonly phone: readonly PhoneRegion[] | null;
}

const PLUS = 43;
const DASH = 45;
const DOT = 46;
const COLON = 58;
const AT = 64;
const HAS_DIGIT = 1 << DIGIT;
/** Groups of letters alone begin no shape beyond this length. */
const MAX_LETTERS = 2;

/**
 * One pass over a text, in groups of letters and digits. Where a group may begin something, the finder of it reads a
 * bounded number of units; so the whole is linear.
 */
export function findPii(search: PiiSearch, finders: Finders): void {
  const { text } = search;
  const phones = new PhoneTurns();
  let addressEnd = 0;
  let at = 0;
  while (at < text.length && !search.isFull) {
    const unit = text.charCodeAt(at);
    const unitClass = unit < 128 ? (CLASSES[unit] ?? OTHER) : OTHER;
    if (unitClass === OTHER) {
      if (unit === AT && finders.email) at = Math.max(at + 1, findEmail(search, at));
      else if (unit === PLUS && finders.phone !== null && isDigitUnit(text.charCodeAt(at + 1))) {
        const end = findInternational(search, at, at + 1);
        if (end > at + 1) phones.done(end);
        at += 1;
      } else if (unit === COLON && at >= addressEnd && finders.ip && text.charCodeAt(at + 1) === COLON) {
        if (isHexUnit(text.charCodeAt(at + 2))) addressEnd = findColonAddress(search, at);
        at += 1;
      } else at += 1;
      continue;
    }
    const start = at;
    let classes = 0;
    for (;;) {
      const next = text.charCodeAt(at);
      const nextClass = next < 128 ? (CLASSES[next] ?? OTHER) : OTHER;
      if (nextClass === OTHER) break;
      classes |= 1 << nextClass;
      at += 1;
    }
    const length = at - start;
    const hasDigit = (classes & HAS_DIGIT) !== 0;
    if (!hasDigit && length > 4) continue;
    const after = text.charCodeAt(at);
    if (after === COLON && length <= 4 && start >= addressEnd && (finders.ip || finders.mac)) {
      if (isHex(text, start, at)) addressEnd = findColonAddress(search, start);
    } else if (after === DASH && length === 2 && finders.mac && isHex(text, start, at))
      findDashedMac(search, start);
    // Letters alone begin a shape only in front of a group with digits.
    if (!hasDigit && (length > MAX_LETTERS || !isDigitUnit(text.charCodeAt(at + 1)))) continue;
    if (length >= 4 && finders.iban && isIbanStart(text, start)) findIban(search, start);
    if (length <= MAX_GROUP_LENGTH) findShapes(search, start, finders.shapes);
    if (classes !== HAS_DIGIT) continue;
    if (length <= 3 && after === DOT && finders.ip && start >= addressEnd)
      addressEnd = findIpv4(search, start);
    if (
      finders.phone !== null &&
      phones.isTurn(text, start, at) &&
      start >= Math.max(addressEnd, search.claimedEnd)
    ) {
      const end = findPhone(search, start, finders.phone);
      if (end > start) phones.done(end);
    }
  }
}

function findPhone(search: PiiSearch, start: number, regions: readonly PhoneRegion[]): number {
  const { text } = search;
  const isAbroad = text.charCodeAt(start) === 48 && text.charCodeAt(start + 1) === 48;
  if (isAbroad && isDigitUnit(text.charCodeAt(start + 2))) {
    const end = findInternational(search, start, start + 2);
    if (end > start + 2) return end;
  }
  return findNational(search, start, regions);
}

/** In a row of groups of digits a telephone number may begin with the first two alone: this bounds the work. */
class PhoneTurns {
  #end = 0;
  #last = 0;
  #row = 0;

  isTurn(text: string, start: number, end: number): boolean {
    const gap = start - this.#last;
    const isRow = gap === 1 || (gap === 2 && !text.slice(this.#last, start).includes('\n'));
    this.#row = isRow ? this.#row + 1 : 0;
    this.#last = end;
    return this.#row < 2 && start >= this.#end;
  }

  /** Whatever begins before `end` is part of a number that was found. */
  done(end: number): void {
    this.#end = Math.max(this.#end, end);
    this.#row = -1;
  }
}

function isHex(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (!isHexUnit(text.charCodeAt(at))) return false;
  return true;
}

/** Two letters, then two digits. */
function isIbanStart(text: string, start: number): boolean {
  return (
    !isDigitUnit(text.charCodeAt(start)) &&
    !isDigitUnit(text.charCodeAt(start + 1)) &&
    isDigitUnit(text.charCodeAt(start + 2)) &&
    isDigitUnit(text.charCodeAt(start + 3))
  );
}
