import type { Node } from './ast.js';
import { createCallReader, readMacro } from './call-reader.js';
import { MAX_NODES } from './limits.js';
import { constantValue, type Expr, need } from './official-tree.js';
import type { ProblemList } from './problem.js';
import { createTokenPlaces } from './token-places.js';
import type { Token } from './tokens.js';
import { CelTypeValue } from './values.js';

/** The tree has more nodes than allowed. */
export class TooManyNodes extends Error {}

/** Types that are named with dots, which parse as members. */
const DOTTED_TYPES = new Set(['google.protobuf.Timestamp', 'google.protobuf.Duration', 'net.IP', 'net.CIDR']);

/**
 * Reads the official tree (`cel.expr.Expr`) into the tree of this package: macros, which the parser expands, become nodes
 * again; chains of `&&` become one; and each node has its range in the text, of which the parser tells one place.
 */
export function createTreeReader(
  tokens: readonly Token[],
  positions: Readonly<Record<string, number>>,
  problems: ProblemList,
) {
  const places = createTokenPlaces(tokens, positions);
  const { token, tokenOf, closing, wrapped } = places;
  const readCall = createCallReader(places, (expr) => read(expr));
  let nodes = 0;

  const read = (expr: Expr): Node => {
    nodes += 1;
    if (nodes > MAX_NODES) throw new TooManyNodes(`has more than ${MAX_NODES} nodes`);
    const at = tokenOf(expr);
    const { exprKind } = expr;
    const { start } = token(at);
    switch (exprKind.case) {
      case 'constExpr': {
        const span = { start, end: token(token(at).text === '-' ? at + 1 : at).end };
        return { kind: 'const', value: constantValue(exprKind.value, span, problems), ...span };
      }
      case 'identExpr': {
        const name = exprKind.value.name.replace(/^\./, '');
        return { kind: 'name', name, start, end: token(token(at).text === '.' ? at + 1 : at).end };
      }
      case 'selectExpr': {
        const { operand, field, testOnly } = exprKind.value;
        const inner = read(need(operand));
        const begin = wrapped(inner).start;
        if (testOnly) {
          const end = token(closing(at + 1)).end;
          const last = token(closing(at + 1) - 1);
          return { kind: 'select', operand: inner, field, fieldSpan: last, test: true, start, end };
        }
        const { end } = token(at + 1);
        const dotted = `${pathOf(inner)}.${field}`;
        if (DOTTED_TYPES.has(dotted))
          return { kind: 'const', value: new CelTypeValue(dotted), start: begin, end };
        return {
          kind: 'select',
          operand: inner,
          field,
          fieldSpan: token(at + 1),
          test: false,
          start: begin,
          end,
        };
      }
      case 'callExpr': {
        const { function: name, target, args } = exprKind.value;
        return readCall(expr, name, target, args);
      }
      case 'listExpr':
        return { kind: 'list', items: exprKind.value.elements.map(read), start, end: token(closing(at)).end };
      case 'structExpr': {
        const { entries, messageName } = exprKind.value;
        const span = { start, end: token(at).end };
        if (messageName !== '')
          problems.add('syntax', span, 'messages cannot be made; write a map {"name": value}');
        const pairs = entries.map(({ keyKind, value }): readonly [Node, Node] => [
          keyKind.case === 'mapKey' ? read(keyKind.value) : { kind: 'const', value: null, ...span },
          read(need(value)),
        ]);
        return { kind: 'map', entries: pairs, start, end: token(closing(at)).end };
      }
      case 'comprehensionExpr':
        return readMacro(places, read, exprKind.value, at);
      default:
        throw new Error('the expression has a part of an unknown kind');
    }
  };
  return { read };
}

/** The dotted path of members that an expression is; null for another. */
export function pathOf(node: Node): string | null {
  if (node.kind === 'name') return node.name;
  if (node.kind !== 'select' || node.test) return null;
  const owner = pathOf(node.operand);
  return owner === null ? null : `${owner}.${node.field}`;
}
