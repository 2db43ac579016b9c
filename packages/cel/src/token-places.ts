import type { Node } from './ast.js';
import type { Span } from './problem.js';
import type { Token } from './tokens.js';

const END = { kind: 'sign', start: 0, end: 0, text: '', match: -1 } as const;

/** Where the parts of an expression are in its text, of which the parser tells one place for each. */
export function createTokenPlaces(tokens: readonly Token[], positions: Readonly<Record<string, number>>) {
  const byStart = new Map(tokens.map((token, index) => [token.start, index]));
  const byEnd = new Map(tokens.map((token, index) => [token.end, index]));

  /** Index of the first token at or after the place of an expression. */
  const tokenOf = (expr: { readonly id: bigint }): number => {
    const offset = positions[expr.id.toString()] ?? 0;
    let at = offset;
    const last = tokens.at(-1)?.start ?? 0;
    while (at <= last && !byStart.has(at)) at += 1;
    return byStart.get(at) ?? tokens.length - 1;
  };
  const token = (index: number): Token => tokens[index] ?? { ...END, match: index };
  const closing = (index: number): number => Math.max(token(index).match, index);
  /** A range with the parentheses around it. */
  const wrapped = (span: Span): Span => {
    let { start, end } = span;
    for (;;) {
      const before = (byStart.get(start) ?? 0) - 1;
      const after = (byEnd.get(end) ?? tokens.length) + 1;
      if (token(before).text !== '(' || token(before).match !== after || isCall(before))
        return { start, end };
      start = token(before).start;
      end = token(after).end;
    }
  };
  /** Whether a parenthesis has arguments of a function. */
  const isCall = (index: number): boolean => {
    const { kind, text } = token(index - 1);
    return kind === 'name' && text !== 'in';
  };
  const around = (children: readonly Node[]): Span => {
    const [first, last] = [children[0], children.at(-1)];
    if (first === undefined || last === undefined) return { start: 0, end: 0 };
    return { start: wrapped(first).start, end: wrapped(last).end };
  };
  /** The operator between two operands. */
  const operatorAt = (args: readonly Node[]): number => {
    const { end } = wrapped(args[0] ?? END);
    return (byEnd.get(end) ?? 0) + 1;
  };
  const isWrapped = (node: Node): boolean => wrapped(node).start !== node.start;

  return { token, tokenOf, closing, wrapped, around, operatorAt, isWrapped };
}

export type TokenPlaces = ReturnType<typeof createTokenPlaces>;
