import { MAX_BRACKET_DEPTH, MAX_EXPRESSION_LENGTH, MAX_OPERANDS } from './limits.js';
import type { ProblemList } from './problem.js';

export interface Token {
  readonly kind: 'name' | 'number' | 'text' | 'sign';
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** For a bracket: the index of the token that closes or opens it; -1 without one. */
  match: number;
}

const SPACE = /(?:[\t\n\f\r ]|\/\/[^\n]*)+/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /0[xX][0-9a-fA-F]+[uU]?|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[uU]?|\.\d+(?:[eE][+-]?\d+)?/y;
const TEXT_START = /[rRbB]{0,2}(?:"""|'''|"|')/y;
const SIGN = /&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()[\]{}=&|`@#$;~^\\]/y;
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * The tokens of an expression, in linear time. Tells what a parser that tries alternatives would report at another place:
 * texts without end, brackets without partner, signs that CEL does not have; and the limits of the text. The parser need
 * not run if there is a problem.
 */
export function readTokens(text: string, problems: ProblemList): Token[] {
  if (text.length > MAX_EXPRESSION_LENGTH) {
    const message = `has ${text.length} characters, more than ${MAX_EXPRESSION_LENGTH}`;
    problems.add('limit', { start: MAX_EXPRESSION_LENGTH, end: text.length }, message);
    return [];
  }
  const tokens: Token[] = [];
  const open: number[] = [];
  let operands = 0;
  for (let at = skip(text, 0); at < text.length; ) {
    const start = at;
    const textStart = match(TEXT_START, text, at);
    let kind: Token['kind'] = 'sign';
    if (textStart !== null) {
      kind = 'text';
      at = textEnd(text, at, textStart);
      if (at < 0) {
        problems.add(
          'syntax',
          { start, end: text.length },
          `the text that begins here has no closing ${quoteOf(textStart)}`,
        );
        return tokens;
      }
    } else {
      const found = match(NAME, text, at);
      const number = found === null ? match(NUMBER, text, at) : null;
      if (found !== null) kind = 'name';
      else if (number !== null) kind = 'number';
      const piece = found ?? number ?? match(SIGN, text, at);
      if (piece === null) {
        const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
        problems.add(
          'syntax',
          { start, end: start + character.length },
          'this character occurs in texts only',
        );
        return tokens;
      }
      at += piece.length;
    }
    const token: Token = { kind, start, end: at, text: text.slice(start, at), match: -1 };
    tokens.push(token);
    if (kind !== 'sign') operands += 1;
    else if (token.text in CLOSING) open.push(tokens.length - 1);
    else if (token.text === ')' || token.text === ']' || token.text === '}') close(tokens, open, problems);
    if (open.length > MAX_BRACKET_DEPTH) {
      problems.add('limit', token, `more than ${MAX_BRACKET_DEPTH} brackets are open here`);
      return tokens;
    }
    if (operands > MAX_OPERANDS) {
      problems.add('limit', token, `has more than ${MAX_OPERANDS} names, numbers and texts`);
      return tokens;
    }
    at = skip(text, at);
  }
  for (const index of open) {
    const token = tokens[index];
    if (token === undefined) continue;
    problems.add('syntax', token, `the bracket ${token.text} is not closed`);
  }
  findForeignSigns(tokens, problems);
  return tokens;
}

function close(tokens: Token[], open: number[], problems: ProblemList): void {
  const token = tokens.at(-1) as Token;
  const index = open.at(-1);
  const opening = index === undefined ? undefined : tokens[index];
  if (index === undefined || opening === undefined || CLOSING[opening.text] !== token.text) {
    const message =
      opening === undefined ? 'closes nothing' : `does not close the bracket ${opening.text} before it`;
    problems.add('syntax', token, `the bracket ${token.text} ${message}`);
    return;
  }
  open.pop();
  opening.match = tokens.length - 1;
  token.match = index;
}

/** Operators of other languages, with those of CEL. */
const FOREIGN: Readonly<Record<string, string>> = { '=': '==', '&': '&&', '|': '||' };
const FOREIGN_WORDS: Readonly<Record<string, string>> = {
  and: '&&',
  or: '||',
  not: '!',
  AND: '&&',
  OR: '||',
  NOT: '!',
};
const OPERAND_STARTS = new Set(['!', '-', '(', '[']);
const UNKNOWN_SIGNS = new Set(['`', '@', '#', '$', ';', '~', '^', '\\']);

function findForeignSigns(tokens: readonly Token[], problems: ProblemList): void {
  tokens.forEach((token, index) => {
    if (token.kind === 'name') {
      const operator = Object.hasOwn(FOREIGN_WORDS, token.text) ? FOREIGN_WORDS[token.text] : undefined;
      const next = tokens[index + 1];
      const isOperand = next !== undefined && (next.kind !== 'sign' || OPERAND_STARTS.has(next.text));
      if (operator === undefined || !isOperand || tokens[index - 1]?.text === '.') return;
      problems.add('syntax', token, `CEL writes ${operator} for ${token.text}`, operator);
    } else if (token.kind === 'sign') {
      const operator = FOREIGN[token.text];
      if (operator !== undefined)
        problems.add('syntax', token, `CEL writes ${operator} for ${token.text}`, operator);
      else if (UNKNOWN_SIGNS.has(token.text))
        problems.add('syntax', token, 'this character occurs in texts only');
    }
  });
}

function quoteOf(start: string): string {
  return start.replace(/^[rRbB]+/, '');
}

/** Where a text ends; -1 without an end. */
function textEnd(text: string, at: number, start: string): number {
  const quote = quoteOf(start);
  const isRaw = /^[bB]?[rR]/.test(start);
  for (let index = at + start.length; index < text.length; ) {
    if (text.startsWith(quote, index)) return index + quote.length;
    const character = text.charAt(index);
    if (quote.length === 1 && (character === '\n' || character === '\r')) return -1;
    index += character === '\\' && !isRaw ? 2 : 1;
  }
  return -1;
}

function skip(text: string, at: number): number {
  return at + (match(SPACE, text, at)?.length ?? 0);
}

function match(sticky: RegExp, text: string, at: number): string | null {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0] ?? null;
}
