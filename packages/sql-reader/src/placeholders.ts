/**
 * Placeholders, for which a driver puts values: `?`, `?1`, `:name`, `:1`, `@p`, `$name`, `%s`, `%(name)s`, `#{name}`. A
 * parser knows only some. They are replaced by the one that it takes for a value and for nothing else, so that a text
 * with a placeholder for a table or a word is refused. `{name}` and `${name}` stand for any text: they are left as they are.
 */
import { DIALECT_RULES } from './dialect-rules.js';
import { scan, type TokenKind } from './lexer.js';
import { type Dialect, NotCertain } from './model.js';
import { wordSet } from './word-set.js';

interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Whether a text may contain a placeholder that has to be replaced. */
const CANDIDATE = /[?:@%]|#\{|\$[A-Za-z_]/;
/** Words after which a value begins, so that a sign there is no operator between two values. */
const BEFORE_VALUE = wordSet(
  'SELECT DISTINCT ALL WHERE AND OR XOR NOT IN LIKE ILIKE RLIKE REGEXP GLOB MATCH SIMILAR TO BETWEEN IS ON HAVING BY ' +
    'WHEN THEN ELSE CASE LIMIT OFFSET VALUES SET RETURNING FROM JOIN INTO TABLE UPDATE USING ANY SOME ESCAPE FETCH ' +
    'FIRST NEXT TOP INTERVAL IF EXISTS CALL EXEC EXECUTE ROW DIV MOD BINARY COLLATE RETURN UNION EXCEPT INTERSECT FOR ZONE',
);
const BATIS = /#\{\s*[\w.]+\s*(?:,[^{};']*)?\}/y;
const FORMAT_TYPE = /^[sdbti]$/;
const NAMED = /^\$[A-Za-z_]\w*$/;
/** Operators of PostgreSQL that end in `@`: one of these before it, without a blank. */
const BEFORE_AT = new Set(['<', '@', '^', '-', '~']);

/** The text with placeholders that the parser of the dialect reads. */
export function withPlainPlaceholders(given: string, dialect: Dialect): string {
  if (!CANDIDATE.test(given)) return given;
  const text = DIALECT_RULES[dialect].hashComments ? withoutBatis(given, dialect) : given;
  const tokens: Token[] = [];
  scan(text, DIALECT_RULES[dialect], (kind, start, end) => {
    if (kind !== 'comment') tokens.push({ kind, start, end, text: text.slice(start, end) });
  });
  const mark = dialect === 'postgres' ? ' $1 ' : ' ? ';
  let written = '';
  let copied = 0;
  let previous: Token | undefined;
  /** Open brackets: in `[…]` of PostgreSQL a colon separates bounds. */
  const brackets: string[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as Token;
    const end = placeholderEnd(text, tokens, at, previous, dialect, brackets.at(-1) === '[');
    if (end === 0) {
      if (token.text === '(' || token.text === '[') brackets.push(token.text);
      else if (token.text === ')' || token.text === ']') brackets.pop();
      previous = token;
      continue;
    }
    // `IN %s` takes a list, which the driver writes with its brackets.
    const isList = previous?.kind === 'word' && previous.text.toUpperCase() === 'IN';
    written += text.slice(copied, token.start) + (isList ? ` (${mark}) ` : mark);
    while ((tokens[at + 1]?.start ?? end) < end) at += 1;
    copied = end;
    previous = { kind: 'number', start: token.start, end, text: '' };
  }
  return copied === 0 ? text : written + text.slice(copied);
}

/** The index after `#{name}` at a place; 0 when there is none. */
function batisEnd(text: string, at: number): number {
  BATIS.lastIndex = at;
  return BATIS.test(text) ? BATIS.lastIndex : 0;
}

/** Most `#{name}` where `#` begins a comment: each is looked for anew. */
const MAX_BATIS = 100;

/**
 * MySQL reads `#{name}` as a comment. A text that is no statement without the rest of its last line is meant for a driver;
 * where statements go on in another line, databases and drivers would run different ones.
 */
function withoutBatis(given: string, dialect: Dialect): string {
  let text = given;
  for (let count = 0; count < MAX_BATIS; count += 1) {
    let found = -1;
    let previous: Token | undefined;
    scan(text, DIALECT_RULES[dialect], (kind, start, end) => {
      if (kind === 'comment') {
        if (found < 0 && text.startsWith('#{', start)) found = start;
      } else if (found < 0) previous = { kind, start, end, text: text.slice(start, end) };
    });
    if (found < 0) return text;
    const end = batisEnd(text, found);
    if (end === 0 || isValue(previous) || /[^\t -~\u00a1-\u2027\u202a-\uffff]/.test(text.slice(end))) break;
    text = `${text.slice(0, found)} ? ${text.slice(end)}`;
  }
  throw new NotCertain('it is not certain whether a text is a comment or a placeholder');
}

/** The index after the placeholder that begins with the token at `at`; 0 when none does. */
function placeholderEnd(
  text: string,
  tokens: readonly Token[],
  at: number,
  previous: Token | undefined,
  dialect: Dialect,
  inSubscript: boolean,
): number {
  const token = tokens[at] as Token;
  if (token.kind !== 'symbol' && token.kind !== 'word') return 0;
  if (token.text.startsWith('#')) return batisEnd(text, token.start);
  if (token.kind === 'word') {
    const isParameter =
      (dialect === 'postgres' && NAMED.test(token.text)) ||
      (dialect === 'oracle' && /^[@$]\w+$/.test(token.text) && !isValue(previous));
    return isParameter ? token.end : 0;
  }
  const next = adjacent(tokens, at);
  const isAfter = (sign: string): boolean => previous?.text === sign && previous.end === token.start;
  switch (token.text) {
    case '?': {
      if (dialect === 'postgres' && (isValue(previous) || isAfter('@') || next?.text === '?')) return 0;
      if (next?.kind === 'number') return /^\d+$/.test(next.text) ? next.end : 0;
      return dialect === 'postgres' ? token.end : 0;
    }
    case ':':
      // SQLite reads more into the name than we do.
      if (dialect === 'sqlite' || isAfter(':') || inSubscript) return 0;
      if (previous?.end === token.start && isValue(previous)) return 0;
      return next?.kind === 'word' || (next?.kind === 'number' && /^\d+$/.test(next.text)) ? next.end : 0;
    case '@':
      if (dialect !== 'postgres' || next?.kind !== 'word' || isValue(previous)) return 0;
      return previous?.end === token.start && BEFORE_AT.has(previous.text) ? 0 : next.end;
    case '%':
      return isValue(previous) ? 0 : formatEnd(tokens, at);
    default:
      return 0;
  }
}

/** The index after `%s` or `%(name)s` at `at`; 0 when there is none. */
function formatEnd(tokens: readonly Token[], at: number): number {
  const next = adjacent(tokens, at);
  if (next?.kind === 'word') return FORMAT_TYPE.test(next.text) ? next.end : 0;
  const close = tokens[at + 3];
  if (next?.text !== '(' || tokens[at + 2]?.kind !== 'word' || close?.text !== ')') return 0;
  const type = adjacent(tokens, at + 3);
  return type !== undefined && FORMAT_TYPE.test(type.text) ? type.end : 0;
}

function adjacent(tokens: readonly Token[], at: number): Token | undefined {
  const next = tokens[at + 1];
  return next?.start === tokens[at]?.end ? next : undefined;
}

/** Whether a value ends with the token, so that an operator may follow it. */
function isValue(token: Token | undefined): boolean {
  if (token === undefined) return false;
  if (token.kind === 'symbol') return token.text === ')' || token.text === ']';
  return token.kind !== 'word' || !BEFORE_VALUE.has(token.text.toUpperCase());
}
