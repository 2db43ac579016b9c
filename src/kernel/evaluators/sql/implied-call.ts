import {
  DIALECT_RULES,
  NotCertain,
  NotParsed,
  scan,
  type TokenKind,
} from '../../../../packages/sql-reader/src/index.js';

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

/** Most tokens that are read to find the end of a call; a longer list of arguments counts as a call. */
const MAX_TOKENS = 400;
const RULES = DIALECT_RULES.tsql;
/** A procedure has at most a server, a database, a schema and a name. */
const MAX_NAME_PARTS = 4;

class Enough extends Error {}

/**
 * Whether T-SQL executes a text as a call of a procedure without EXECUTE, which it does with a name at the beginning of
 * a batch: `wipe_users`, `sys.sp_executesql N'…'`, `"p" 1, @x = 2`. Names may be in brackets or quotes. Prose of three
 * words and more is none, since arguments are separated by commas. `isFirstWord` tells the words that begin a statement:
 * one may follow the call. Source: Transact-SQL reference, EXECUTE.
 */
export function isImpliedCall(text: string, isFirstWord: (word: string) => boolean): boolean {
  const tokens: Token[] = [];
  try {
    scan(text, RULES, (kind, start, end) => {
      if (kind === 'comment') return;
      tokens.push({ kind, text: text.slice(start, end) });
      if (tokens.length >= MAX_TOKENS) throw new Enough();
    });
  } catch (error) {
    if (error instanceof NotCertain) return tokens.length === 0 || readCall(tokens, isFirstWord);
    // A text with an unclosed quote is refused as a whole before anything in it runs.
    if (error instanceof NotParsed) return false;
    if (!(error instanceof Enough)) throw error;
  }
  return readCall(tokens, isFirstWord);
}

function readCall(tokens: readonly Token[], isFirstWord: (word: string) => boolean): boolean {
  let at = nameEnd(tokens);
  if (at === 0) return false;
  // `p;1` is the first of several procedures of one name.
  if (isSymbol(tokens[at], ';') && tokens[at + 1]?.kind === 'number') at += 2;
  const isOver = (): boolean => {
    const token = tokens[at];
    if (token === undefined || isSymbol(token, ';') || isSymbol(token, '}')) return true;
    return token.kind === 'word' && isFirstWord(token.text.toUpperCase());
  };
  // `{call p (1)}` and `p (1)`: brackets belong to the escape syntax of drivers.
  if (isOver() || isSymbol(tokens[at], '(')) return true;
  for (;;) {
    const end = argumentEnd(tokens, at);
    if (end === at) return false;
    at = end;
    if (isOver()) return true;
    if (!isSymbol(tokens[at], ',')) return false;
    at += 1;
  }
}

/** The index after a name of one to four parts, each a word or a quoted name; 0 if there is none. */
function nameEnd(tokens: readonly Token[]): number {
  let at = 0;
  for (let part = 0; part < MAX_NAME_PARTS; part += 1) {
    const token = tokens[at];
    if (token?.kind === 'word' || token?.kind === 'name') at += 1;
    // `master..p` leaves the schema out.
    else if (part === 0 || !isSymbol(token, '.')) return part === 0 ? 0 : at;
    if (!isSymbol(tokens[at], '.')) return at;
    at += 1;
  }
  return at;
}

/** The index after `[@name =] value [OUTPUT]`; `from` if there is no argument. */
function argumentEnd(tokens: readonly Token[], from: number): number {
  let at = from;
  if (tokens[at]?.text.startsWith('@') && isSymbol(tokens[at + 1], '=')) at += 2;
  while (['-', '+', '$'].some((sign) => isSymbol(tokens[at], sign))) at += 1;
  const value = tokens[at];
  if (value === undefined || value.kind === 'symbol') return from;
  at += 1;
  // `N'…'` is a word and a string.
  if (value.text.toUpperCase() === 'N' && tokens[at]?.kind === 'string') at += 1;
  if (/^(?:OUT|OUTPUT|READONLY)$/i.test(tokens[at]?.text ?? '')) at += 1;
  return at;
}

function isSymbol(token: Token | undefined, symbol: string): boolean {
  return token?.kind === 'symbol' && token.text === symbol;
}
