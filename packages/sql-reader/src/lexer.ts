import type { DialectRules } from './dialect-rules.js';
import { NotCertain, NotParsed } from './model.js';

export type TokenKind = 'word' | 'name' | 'string' | 'number' | 'symbol' | 'comment';

/**
 * Called for each token, comments included: its position, and the content of a string or a quoted name.
 * `value` is empty for all other kinds.
 */
export type TokenSink = (kind: TokenKind, start: number, end: number, value: string) => void;

/** Deepest nesting of comments: the parser of PostgreSQL takes time quadratic in it. */
export const MAX_COMMENT_DEPTH = 32;

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '{': '}', '(': ')', '<': '>' };
/** Characters that some databases treat as white space or ignore, and others as part of a word. */
const ODD_CHARACTER =
  /[\u0085\u00a0\u00ad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff\ufff9-\ufffb]/;
const ODD_IN_COMMENT = /[\v\f\u0085\u2028\u2029]/;
const DOLLAR_TAG = /\$(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/y;
const TO_LINE_FEED = /[^\n]*/y;
const TO_LINE_BREAK = /[^\r\n]*/y;
const PLAIN_WORD = /[A-Za-z0-9_$\u0080-\uffff]*/y;
const EXTENDED_WORD = /[A-Za-z0-9_$@#\u0080-\uffff]*/y;
const NUMBER = /(?:[0-9]|\.[0-9])(?:[eE][+-](?=[0-9])|[A-Za-z0-9_.])*/y;
const MYSQL_ESCAPES: Readonly<Record<string, string>> = {
  '0': '\0',
  b: '\b',
  n: '\n',
  r: '\r',
  t: '\t',
  Z: '\u001a',
  '%': '\\%',
  _: '\\_',
};

/**
 * Splits a text into tokens, in linear time. Throws NotParsed where the text is malformed, or where databases
 * of the dialect read it differently.
 */
export function scan(text: string, rules: DialectRules, sink: TokenSink): void {
  const word = rules.wordCharacters === '' ? PLAIN_WORD : EXTENDED_WORD;
  // C code reads up to the first NUL: the rest would run unseen, or be checked without being run.
  if (text.includes('\0')) throw new NotCertain('the text contains a NUL character');
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === 32 || (code >= 9 && code <= 13)) {
      at += 1;
      continue;
    }
    const start = at;
    const next = text.charCodeAt(at + 1);
    if (isLineComment(text, at, rules)) {
      at = lineCommentEnd(text, at, rules);
      sink('comment', start, at, '');
    } else if (code === 47 && next === 42) {
      at = blockCommentEnd(text, at, rules);
      sink('comment', start, at, '');
    } else if (code === 39 || (code === 34 && rules.doubleQuotedStrings)) {
      at = quoted(text, at, rules.backslashEscapes, 'string', start);
    } else if (code === 34 || (code === 96 && rules.backtickNames)) {
      at = quoted(text, at, false, 'name', start);
    } else if (code === 91 && rules.bracketNames !== 'no') {
      at = bracketed(at);
    } else if ((code >= 48 && code <= 57) || (code === 46 && next >= 48 && next <= 57)) {
      NUMBER.lastIndex = at;
      NUMBER.test(text);
      at = NUMBER.lastIndex;
      sink('number', start, at, '');
    } else if (code === 36 && rules.postgresStrings && dollarQuoted()) {
      // `dollarQuoted` has advanced.
    } else {
      word.lastIndex = at;
      word.test(text);
      if (word.lastIndex > at) {
        at = word.lastIndex;
        wordOrPrefix(start);
      } else {
        if (code < 32 || code === 127) throw new NotCertain('the text contains a control character');
        if ((code === 92 || code === 96) && !rules.exactParser) {
          throw new NotParsed('the text contains a character that the dialect does not have');
        }
        at += 1;
        sink('symbol', start, at, '');
      }
    }
  }

  function quoted(source: string, from: number, backslash: boolean, kind: TokenKind, tokenStart: number) {
    const quote = source[from] as string;
    let value = '';
    let piece = from + 1;
    for (let place = piece; place < source.length; place += 1) {
      const character = source[place] as string;
      if (backslash && character === '\\') {
        const escaped = source[place + 1] ?? '';
        value += source.slice(piece, place) + (MYSQL_ESCAPES[escaped] ?? escaped);
        place += 1;
        piece = place + 1;
      } else if (character === quote) {
        value += source.slice(piece, place);
        if (source[place + 1] !== quote) {
          sink(kind, tokenStart, place + 1, value);
          return place + 1;
        }
        value += quote;
        place += 1;
        piece = place + 1;
      }
    }
    throw new NotParsed(kind === 'string' ? 'a string is not closed' : 'a quoted name is not closed');
  }

  function bracketed(from: number): number {
    let value = '';
    let piece = from + 1;
    for (;;) {
      const close = text.indexOf(']', piece);
      if (close < 0) throw new NotParsed('a quoted name is not closed');
      value += text.slice(piece, close);
      if (rules.bracketNames === 'plain' || text[close + 1] !== ']') {
        sink('name', from, close + 1, value);
        return close + 1;
      }
      value += ']';
      piece = close + 2;
    }
  }

  function dollarQuoted(): boolean {
    DOLLAR_TAG.lastIndex = at;
    const tag = DOLLAR_TAG.exec(text)?.[0];
    if (tag === undefined) return false;
    const close = text.indexOf(tag, at + tag.length);
    if (close < 0) throw new NotParsed('a string is not closed');
    const start = at;
    at = close + tag.length;
    sink('string', start, at, text.slice(start + tag.length, close));
    return true;
  }

  /** A word, or a string with a prefix that determines its kind. */
  function wordOrPrefix(start: number): void {
    const length = at - start;
    if (text[at] === "'" && length <= 2) {
      const prefix = text.slice(start, at).toUpperCase();
      if (rules.postgresStrings && prefix === 'E') {
        at = quoted(text, at, true, 'string', start);
        return;
      }
      if (rules.quoteOperator && (prefix === 'Q' || prefix === 'NQ')) {
        at = quoteOperator(text, at + 1, start, sink);
        return;
      }
    }
    if (!rules.exactParser) refuseOddWord(text.slice(start, at));
    sink('word', start, at, '');
  }
}

function isLineComment(text: string, at: number, rules: DialectRules): boolean {
  const code = text.charCodeAt(at);
  if (code === 35) return rules.hashComments;
  if (code !== 45 || text.charCodeAt(at + 1) !== 45) return false;
  // NaN, the code after the end, is not greater either.
  return !(rules.dashNeedsSpace && text.charCodeAt(at + 2) > 32);
}

function quoteOperator(text: string, opener: number, start: number, sink: TokenSink): number {
  const open = text[opener] ?? '';
  if (open.trim() === '') throw new NotParsed('a string is not closed');
  const close = text.indexOf(`${CLOSING[open] ?? open}'`, opener + 1);
  if (close < 0) throw new NotParsed('a string is not closed');
  sink('string', start, close + 2, text.slice(opener + 1, close));
  return close + 2;
}

function refuseOddWord(word: string): void {
  if (ODD_CHARACTER.test(word)) throw new NotCertain('the text contains white space that is not plain');
  // Some parsers read `$x$…$x$` as a string, although only PostgreSQL has such strings.
  if (word.indexOf('$') !== word.lastIndexOf('$')) {
    throw new NotCertain('a word contains two dollar signs');
  }
}

function lineCommentEnd(text: string, start: number, rules: DialectRules): number {
  const line = rules.returnEndsComment ? TO_LINE_BREAK : TO_LINE_FEED;
  line.lastIndex = start;
  line.test(text);
  const end = line.lastIndex;
  if (rules.returnEndsComment) return end;
  const comment = text.slice(start, end);
  const carriageReturn = comment.indexOf('\r');
  if ((carriageReturn >= 0 && carriageReturn < comment.length - 1) || ODD_IN_COMMENT.test(comment)) {
    throw new NotCertain('it is not certain where a comment ends');
  }
  return end;
}

function blockCommentEnd(text: string, start: number, rules: DialectRules): number {
  if (rules.executableComments && /^\/\*M?!/.test(text.slice(start, start + 4))) {
    throw new NotCertain('a comment holds text that the server runs');
  }
  let depth = 1;
  for (let at = start + 2; at < text.length - 1; at += 1) {
    const code = text.charCodeAt(at);
    const next = text.charCodeAt(at + 1);
    if (code === 42 && next === 47) {
      depth -= 1;
      at += 1;
      if (depth === 0) return at + 1;
    } else if (rules.nestedComments && code === 47 && next === 42) {
      depth += 1;
      at += 1;
      if (depth > MAX_COMMENT_DEPTH) throw new NotCertain('comments are nested too deeply');
    }
  }
  throw new NotCertain('a comment is not closed');
}
