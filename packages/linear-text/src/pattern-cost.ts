/**
 * Estimated compile cost of a pattern, from its text, because the engine itself reports it only afterwards:
 * nine kilobytes of `a{1000}a{1000}…` take seconds and half a gigabyte. The scan follows RE2's syntax
 * loosely; for an invalid pattern the estimate is irrelevant, because the engine rejects it.
 */
export interface PatternCost {
  /** Estimated instructions of the program before the engine simplifies it. */
  readonly instructions: number;
  /** Estimated code points that character classes make the engine visit. */
  readonly classWork: number;
}

/** Visits of one Unicode class such as `\pL` (measured: up to a quarter of a millisecond). */
const UNICODE_CLASS_WORK = 10_000;
/** Code points with case variants are below this; wider ranges cost no more. */
const WIDEST_FOLD_RANGE = 0x1e944;

const REPEAT = /\{(\d+)(?:,(\d*))?\}/y;
// A name is searched for over 64 characters only: this keeps the scan linear.
const GROUP_OPENING = /\((?:\?(?:P?<[^>]{0,64}>|[a-zA-Z-]*:?))?/y;
const POSIX_CLASS = /\[:\^?[a-z]{1,10}:\]/y;
const ESCAPED_CODE = /\\x(?:\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2}))/y;
const CASE_FLAG = /\(\?[a-zA-Z]*i/;

/** Code points of character classes visited in the time of one compiled instruction. */
const CLASS_WORK_PER_INSTRUCTION = 6;

/** Total compile cost of a pattern, in compiled instructions. */
export function compileCostOf({ instructions, classWork }: PatternCost): number {
  return instructions + classWork / CLASS_WORK_PER_INSTRUCTION;
}

/** Estimates the cost of a pattern in time linear in its length. */
export function estimateCost(pattern: string, ignoreCase: boolean): PatternCost {
  const folds = ignoreCase || CASE_FLAG.test(pattern);
  let classWork = 0;
  // Instructions of everything before the last atom, per open group; `atom` is the target of a repetition.
  const enclosing: number[] = [];
  let before = 0;
  let atom = 0;
  const next = (size: number) => {
    before += atom;
    atom = size;
  };

  let at = 0;
  while (at < pattern.length) {
    const character = pattern.charAt(at);
    if (character === '\\') {
      if (pattern.startsWith('\\Q', at)) {
        const end = pattern.indexOf('\\E', at + 2);
        const quoted = (end === -1 ? pattern.length : end) - at - 2;
        if (quoted > 0) {
          next(quoted - 1);
          next(1);
        }
        at = end === -1 ? pattern.length : end + 2;
        continue;
      }
      if (isUnicodeClass(pattern, at)) classWork += UNICODE_CLASS_WORK;
      next(1);
      at = skipEscape(pattern, at);
    } else if (character === '[') {
      const scanned = scanClass(pattern, at, folds);
      classWork += scanned.work;
      next(1);
      at = scanned.end;
    } else if (character === '(') {
      enclosing.push(before + atom);
      before = 0;
      atom = 0;
      at += matchLength(GROUP_OPENING, pattern, at);
    } else if (character === ')') {
      const size = before + atom + 2;
      before = enclosing.pop() ?? 0;
      atom = size;
      at += 1;
    } else if (character === '{') {
      REPEAT.lastIndex = at;
      const repeat = REPEAT.exec(pattern);
      if (repeat === null) {
        next(1);
        at += 1;
      } else {
        const times = Math.max(Number(repeat[1]), Number(repeat[2] ?? 0), 1);
        atom = (atom + 1) * times;
        at += repeat[0].length;
      }
    } else {
      if (character === '*' || character === '+' || character === '?') atom += 1;
      else next(1);
      at += 1;
    }
  }
  const open = enclosing.reduce((sum, size) => sum + size, 0);
  return { instructions: open + before + atom + 2, classWork };
}

/** Scans `[…]`; an unclosed class ends with the pattern. */
function scanClass(pattern: string, start: number, folds: boolean): { end: number; work: number } {
  let at = start + 1;
  let work = 0;
  if (pattern.charAt(at) === '^') at += 1;
  let first = true;
  let low = 0;
  let range = false;
  while (at < pattern.length) {
    const character = pattern.charAt(at);
    if (character === ']' && !first) return { end: at + 1, work };
    first = false;
    if (character === '-' && !range) {
      range = true;
      at += 1;
      continue;
    }
    if (character === '[') {
      const length = matchLength(POSIX_CLASS, pattern, at);
      // A bracket that opens no named class is a plain character, but the engine looks far ahead first.
      if (length === 1 && pattern.charAt(at + 1) === ':') work += (pattern.length - at) >> 4;
      at += length;
      low = character.charCodeAt(0);
      range = false;
      continue;
    }
    const code = codePointAt(pattern, at);
    if (isUnicodeClass(pattern, at)) work += UNICODE_CLASS_WORK;
    else if (range && folds) work += rangeWork(low, code);
    low = code;
    range = false;
    at = character === '\\' ? skipEscape(pattern, at) : at + (code > 0xffff ? 2 : 1);
  }
  return { end: at, work };
}

function rangeWork(low: number, high: number): number {
  return Number.isNaN(low) || Number.isNaN(high)
    ? WIDEST_FOLD_RANGE
    : Math.min(Math.max(high - low, 0), WIDEST_FOLD_RANGE);
}

/** The code point at `at`; NaN for an escape whose value is not known to this scan. */
function codePointAt(pattern: string, at: number): number {
  if (pattern.charAt(at) !== '\\') return pattern.codePointAt(at) ?? Number.NaN;
  ESCAPED_CODE.lastIndex = at;
  const escaped = ESCAPED_CODE.exec(pattern);
  if (escaped !== null) return Number.parseInt(escaped[1] ?? escaped[2] ?? '', 16);
  const next = pattern.charAt(at + 1);
  return /[a-zA-Z0-9]/.test(next) ? Number.NaN : (pattern.codePointAt(at + 1) ?? Number.NaN);
}

function isUnicodeClass(pattern: string, at: number): boolean {
  return pattern.startsWith('\\p', at) || pattern.startsWith('\\P', at);
}

/** Index after the escape at `at`: `\x{…}` and `\p{…}` with their braces, else two characters. */
function skipEscape(pattern: string, at: number): number {
  const letter = pattern.charAt(at + 1);
  if ((letter === 'x' || letter === 'p' || letter === 'P') && pattern.charAt(at + 2) === '{') {
    // Braces enclose a name or a number; the limit keeps the scan linear.
    const end = pattern.slice(at + 3, at + 67).indexOf('}');
    if (end !== -1) return at + 3 + end + 1;
  }
  return at + 2;
}

function matchLength(sticky: RegExp, text: string, at: number): number {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0].length ?? 1;
}
