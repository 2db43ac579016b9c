import { parse } from '@bufbuild/cel';
import type { Node } from './ast.js';
import { ProblemList } from './problem.js';
import { readTokens, type Token } from './tokens.js';
import { createTreeReader, TooManyNodes } from './tree-reader.js';
import type { ExpressionProblem } from './types.js';

/** Result of parsing: the tree, or problems. */
export interface Parsed {
  readonly tree: Node | null;
  readonly problems: readonly ExpressionProblem[];
  readonly tokens: readonly Token[];
}

/**
 * Parses the text of an expression with the parser of `@bufbuild/cel`, once the tokens are known to be sound: the parser
 * tries alternatives, so its time grows with the nesting of brackets, and its stack with it. Never throws.
 */
export function parseExpression(text: string): Parsed {
  const list = new ProblemList();
  const tokens = readTokens(text, list);
  const failed = { tree: null, tokens };
  if (tokens.length === 0 && list.problems.length === 0) {
    list.add('syntax', { start: 0, end: text.length }, 'the expression is empty');
  }
  if (list.problems.length === 0) findMisplaced(tokens, text.length, list);
  if (list.problems.length > 0) return { ...failed, problems: list.problems };
  try {
    // The parser knows no comment that ends with the text.
    const { expr, sourceInfo } = parse(`${text}\n`);
    if (expr === undefined) throw new Error('the expression is empty');
    const tree = createTreeReader(tokens, sourceInfo?.positions ?? {}, list).read(expr);
    return { tree: list.problems.length > 0 ? null : tree, tokens, problems: list.problems };
  } catch (error) {
    if (error instanceof TooManyNodes) list.add('limit', { start: 0, end: text.length }, error.message);
    else addParserError(error, tokens, text.length, list);
    return { ...failed, problems: list.problems };
  }
}

const BINARY = new Set([
  '&&',
  '||',
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  '+',
  '-',
  '*',
  '/',
  '%',
  '?',
  ':',
  ',',
  '.',
  'in',
]);
const BEFORE_OPERAND = new Set([...BINARY, '(', '[', '{', '!']);
const PREFIX = new Set(['-', '!', '.', '(', '[', '{']);

/**
 * Operands and operators that do not take turns: the parser would report the last place at which the text before was
 * complete. What is more than this the parser tells.
 */
function findMisplaced(tokens: readonly Token[], length: number, problems: ProblemList): void {
  let wantsOperand = true;
  for (const [index, token] of tokens.entries()) {
    const isOperand = (token.kind !== 'sign' && token.text !== 'in') || PREFIX.has(token.text);
    const before = tokens[index - 1];
    if (wantsOperand && !isOperand) {
      const closesEmpty = before !== undefined && before.match === index;
      const trails = before?.text === ',' && (token.text === ']' || token.text === '}');
      if (!closesEmpty && !trails) {
        problems.add('syntax', token, `an operand is missing before ${token.text}`);
        return;
      }
    }
    if (!wantsOperand && (token.kind !== 'sign' || token.text === '!') && token.text !== 'in') {
      problems.add('syntax', token, `an operator is missing before ${shown(token)}`);
      return;
    }
    wantsOperand = BEFORE_OPERAND.has(token.text) && (token.kind === 'sign' || token.text === 'in');
  }
  const last = tokens.at(-1);
  if (wantsOperand && last !== undefined) {
    problems.add('syntax', { start: last.start, end: length }, `an operand is missing after ${last.text}`);
  }
}

function shown({ kind, text }: Token): string {
  return kind === 'text' || text.length > 40 ? 'it' : text;
}

/** The position of an error of the parser; it says what it expected at a place, but not always the place that is wrong. */
function addParserError(
  error: unknown,
  tokens: readonly Token[],
  length: number,
  problems: ProblemList,
): void {
  const offset = offsetOf(error) ?? 0;
  const token = tokens.find(({ end }) => end > offset);
  const span = token ?? { start: Math.min(offset, length), end: length };
  const said = error instanceof Error && token === undefined ? 'the expression ends too early' : null;
  problems.add(
    'syntax',
    span,
    said ?? `the expression cannot be read from here on, ${token ? shown(token) : 'it'}`,
  );
}

function offsetOf(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('location' in error)) return null;
  const { location } = error as { location: { start?: { offset?: unknown } } | undefined };
  return typeof location?.start?.offset === 'number' ? location.start.offset : null;
}
