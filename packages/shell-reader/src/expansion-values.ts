/** What expansions are when no variable is set: `$'…'` and `${…}`. */
import type { ShellVisitor } from './types.js';

/** Characters that are escaped by a letter in `$'…'`. */
const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '?': '?',
};

const ESCAPE =
  /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c([\s\S])|([\s\S]))/g;

/**
 * The value of `$'…'`, given the text between its quotes (bash manual, "ANSI-C Quoting"). The value ends at an escaped
 * null character, as it does in bash. Bytes above 127 are read as characters of Latin-1.
 */
export function ansiValue(text: string): string {
  if (!text.includes('\\')) return text;
  const value = text.replace(ESCAPE, (whole, ...groups: (string | undefined)[]) => {
    const [hex, short, long, octal, control, other] = groups;
    const digits = hex ?? short ?? long;
    if (digits !== undefined) {
      const code = Number.parseInt(digits, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    }
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 255);
    if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) & 31);
    return other === undefined ? whole : (SIMPLE[other] ?? `\\${other}`);
  });
  const ending = value.indexOf('\0');
  return ending < 0 ? value : value.slice(0, ending);
}

/** Longest default of a variable that is considered. */
const MAX_DEFAULT_LENGTH = 200;
/** After `${`: a sign, the variable, a plain subscript, an operator. */
const PARAMETER =
  /([!#]?)([A-Za-z_][A-Za-z0-9_]*|\d+|[@*#?$!-])?(\[(?:[@*]|-?\d+)\])?(:?[-=?+]|:|\[|@P|[#%/^,~@])?/y;
/** The rest of `${x:1:2}` with plain numbers. */
const PLAIN_SUBSTRING = /[ \t]*(?:\d+|\(-?\d+\)|(?<=[ \t])-\d+)?(?::[ \t]*-?\d+)?$/y;
const DEFAULT_OPERATOR = /^:?[-=+]$/;

/** The groups of a sticky expression at a place before `end`; none if it does not match there. */
function matchAt(expression: RegExp, text: string, at: number, end: number): readonly (string | undefined)[] {
  // Only the begin is looked at, however long the text is.
  expression.lastIndex = 0;
  return expression.exec(text.slice(at, Math.min(end, at + MAX_DEFAULT_LENGTH))) ?? [];
}

/**
 * Tells what `${…}` evaluates or assigns. Returns what it is when no variable is set. `start` is the place of the dollar
 * sign, `begin` that behind the brace, `end` that behind the closing one.
 */
export function parameterMeaning(
  visitor: ShellVisitor,
  text: string,
  start: number,
  begin: number,
  end: number,
): string {
  const [head = '', sign, name = '', , operator = ''] = matchAt(PARAMETER, text, begin, end - 1);
  const after = begin + head.length;
  const isIndirect = sign === '!' && name !== '';
  const isOpen = operator === '[' || operator === '@P' || (operator === '' && after < end - 1);
  const calculates = operator === ':' && matchAt(PLAIN_SUBSTRING, text, after, end - 1).length === 0;
  if (isIndirect || isOpen || calculates) {
    visitor.evaluated(text.slice(start, end), start, end);
    return '';
  }
  if (operator.endsWith('=')) visitor.assigned(name, start, end);
  if (name === 'IFS') return ' ';
  const length = end - 1 - after;
  if (!DEFAULT_OPERATOR.test(operator) || length > MAX_DEFAULT_LENGTH) return '';
  const written = text.slice(after, end - 1);
  return /[$`]/.test(written) ? '' : written.replace(/\\(.)|["']/gs, '$1');
}
