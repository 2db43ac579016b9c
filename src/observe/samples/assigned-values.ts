import { MASK } from '../../contract/secrets/mask-credentials.js';
import { isSecretName } from '../../contract/secrets/secret-names.js';

/** A name, and what says that a value follows: an assignment, a sentence, or, of an option, a blank. */
const NAMED =
  /(?<![\w-])(-{0,2})(\w[\w-]{1,199})(?:\\{0,8}["'`]?\s{0,20}(=>|[:=])|(\s{1,20}(?:is|was):?\s{1,20})|\s{1,20})/g;
/** An element of XML with its content. */
const ELEMENT = /(<(?:\w{1,60}:)?(\w[\w-]{1,199})(?:[^<>\w][^<>]{0,200})?>)[^<]+/g;
/** Of statements of SQL: the literal after these words. */
const SQL_LITERAL =
  /\b((?:identified(?:\s{1,20}with\s{1,20}\S{1,60})?\s{1,20}(?:by|as)|password)\s{1,20}(?:password\s{1,20})?)(?:'(?:[^'\\]|''|\\.)*'?|"(?:[^"\\]|""|\\.)*"?)/gis;
/** A command of clients of MySQL, and its option with a value, without a blank between them. */
const MYSQL_COMMAND = /\b(?:mysql|mariadb)[\w-]{0,20}\s[^\n|;]*/g;
const MYSQL_OPTION = /(\s-p)[^\s-]\S*/g;
/** The rest of the first line of a block of YAML. */
const BLOCK_HEAD = /[ \t]*(?:[|>][+-]?\d?[+-]?)?[ \t]*\r?\n/y;
const WORD = /\S+/y;
const BLANKS = /\s{0,20}/y;
const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']', '(': ')' };

/**
 * The text with MASK in place of what a secret-like name stands before and `maskSecrets` does not replace: whole objects and lists,
 * blocks of YAML, contents of elements, values of options, literals of SQL, and what a sentence says. What is not closed ends with
 * the text. The time is linear in the text.
 */
export function maskAssigned(given: string): string {
  const text = given
    .replace(ELEMENT, (whole, tag: string, name: string) => (isSecretName(name) ? tag + MASK : whole))
    .replace(SQL_LITERAL, `$1'${MASK}'`)
    .replace(MYSQL_COMMAND, (command) => command.replace(MYSQL_OPTION, `$1${MASK}`));
  let masked = '';
  let done = 0;
  NAMED.lastIndex = 0;
  for (let found = NAMED.exec(text); found !== null; found = NAMED.exec(text)) {
    const [whole, dashes = '', name = ''] = found;
    const part = isSecretName(name) ? valueAt(text, found.index + whole.length, found) : null;
    if (part === null) {
      // What follows may be a name of its own.
      NAMED.lastIndex = found.index + dashes.length + name.length;
      continue;
    }
    masked += text.slice(done, part.start) + MASK;
    done = part.end;
    NAMED.lastIndex = done;
  }
  return masked + text.slice(done);
}

interface Part {
  readonly start: number;
  readonly end: number;
}

function valueAt(text: string, at: number, found: RegExpExecArray): Part | null {
  const [, dashes, , assignment, sentence] = found;
  if (assignment !== undefined) return bracketAt(text, at) ?? blockAt(text, at, found.index);
  return sentence === undefined && dashes === '' ? null : matchAt(WORD, text, at);
}

/** An object, list or call, to the bracket that closes it. */
function bracketAt(text: string, from: number): Part | null {
  const start = matchAt(BLANKS, text, from)?.end ?? from;
  if (CLOSING[text[start] ?? ''] === undefined) return null;
  const open: string[] = [];
  let quote = '';
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    if (sign === '\\') at += 1;
    else if (quote !== '') quote = sign === quote ? '' : quote;
    else if (sign === '"' || sign === "'") quote = sign;
    else if (CLOSING[sign] !== undefined) open.push(CLOSING[sign]);
    else if (sign === open.at(-1)) {
      open.pop();
      if (open.length === 0) return { start, end: at + 1 };
    }
  }
  return { start, end: text.length };
}

/** The lines after this one that are indented more than it, or are items of a list. */
function blockAt(text: string, from: number, nameAt: number): Part | null {
  const head = matchAt(BLOCK_HEAD, text, from);
  if (head === null) return null;
  const line = text.slice(text.lastIndexOf('\n', nameAt) + 1, nameAt);
  const indent = /^[ \t]*/.exec(line)?.[0].length ?? 0;
  let end = head.end;
  while (end < text.length) {
    const next = text.indexOf('\n', end);
    const lineEnd = next === -1 ? text.length : next;
    const [blanks = ''] = /^[ \t]*/.exec(text.slice(end, lineEnd)) ?? [];
    const isEmpty = end + blanks.length === lineEnd || text[end + blanks.length] === '\r';
    const isItem = blanks.length === indent && text[end + blanks.length] === '-';
    if (!isEmpty && blanks.length <= indent && !isItem) break;
    end = Math.min(text.length, lineEnd + 1);
  }
  return end === head.end ? null : { start: head.end, end };
}

function matchAt(pattern: RegExp, text: string, at: number): Part | null {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  return found === null || found[0] === '' ? null : { start: at, end: at + found[0].length };
}
