import type { MacroName, Node } from './ast.js';
import { isQualifiedFunction } from './library.js';
import { MAX_NODES } from './limits.js';
import {
  argsOf,
  type Comprehension,
  callName,
  constantValue,
  type Expr,
  itemsOf,
  nameOf,
  need,
} from './official-tree.js';
import type { ProblemList, Span } from './problem.js';
import type { Token } from './tokens.js';
import { CelTypeValue } from './values.js';

/** The tree has more nodes than allowed. */
export class TooManyNodes extends Error {}

/** Types that are named with dots, which parse as members. */
const DOTTED_TYPES = new Set(['google.protobuf.Timestamp', 'google.protobuf.Duration', 'net.IP', 'net.CIDR']);

/** Macros with two variables, which the parser leaves as calls. */
const TWO_VARIABLES: ReadonlyMap<string, MacroName> = new Map([
  ['all', 'all'],
  ['exists', 'exists'],
  ['exists_one', 'exists_one'],
  ['existsOne', 'exists_one'],
  ['transformList', 'transformList'],
  ['transformMap', 'transformMap'],
]);

/**
 * Reads the official tree (`cel.expr.Expr`) into the tree of this package: macros, which the parser expands, become nodes
 * again; chains of `&&` become one; and each node has its range in the text, of which the parser tells one place.
 */
export function createTreeReader(
  tokens: readonly Token[],
  positions: Readonly<Record<string, number>>,
  problems: ProblemList,
) {
  const byStart = new Map(tokens.map((token, index) => [token.start, index]));
  const byEnd = new Map(tokens.map((token, index) => [token.end, index]));
  let nodes = 0;

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

  const readMacro = (value: Comprehension, at: number, name: string): Node => {
    const range = need(value.iterRange);
    const step = need(value.loopStep);
    const args = argsOf(step);
    const macro = (name === 'existsOne' ? 'exists_one' : name) as MacroName;
    const target = read(range);
    let filter: Node | null = null;
    let body: Node;
    if (macro === 'all' || macro === 'exists') body = read(need(args[1]));
    else if (macro !== 'map') body = read(need(args[0]));
    else if (callName(step) === '_?_:_') {
      filter = read(need(args[0]));
      body = read(need(itemsOf(need(argsOf(need(args[1]))[1]))[0]));
    } else body = read(need(itemsOf(need(args[1]))[0]));
    const open = at + 2;
    const span = { start: wrapped(target).start, end: token(closing(open)).end };
    return {
      kind: 'macro',
      macro,
      range: target,
      variable: value.iterVar,
      second: null,
      filter,
      body,
      ...span,
    };
  };

  const readCall = (expr: Expr, name: string, target: Expr | undefined, rest: readonly Expr[]): Node => {
    const at = tokenOf(expr);
    if (target !== undefined) {
      const open = at + 2;
      const end = token(closing(open)).end;
      const owner = nameOf(target);
      const qualified = `${owner}.${name}`;
      const nameSpan = token(at + 1);
      if (owner === 'cel' && name === 'bind' && rest.length === 3) {
        const [variable, value, body] = rest as [Expr, Expr, Expr];
        const start = token(tokenOf(target)).start;
        return {
          kind: 'bind',
          variable: nameOf(variable) ?? '',
          value: read(value),
          body: read(body),
          start,
          end,
        };
      }
      if (owner !== null && isQualifiedFunction(qualified)) {
        const start = token(tokenOf(target)).start;
        const args = rest.map(read);
        return call(qualified, false, args, { start, end }, { start, end: nameSpan.end });
      }
      const first = read(target);
      const start = wrapped(first).start;
      const macro = TWO_VARIABLES.get(name);
      const [variable, second] = rest.map(nameOf);
      if (macro !== undefined && variable && second && rest.length > 2) {
        const [one, other] = rest.slice(2).map(read) as [Node, Node?];
        const [filter, body] = other === undefined ? [null, one] : [one, other];
        if (filter === null || macro.startsWith('transform')) {
          return { kind: 'macro', macro, range: first, variable, second, filter, body, start, end };
        }
      }
      const args = [first, ...rest.map(read)];
      return call(name, true, args, { start, end }, nameSpan);
    }
    if (name === '_&&_' || name === '_||_') {
      const terms = rest.flatMap((term) => {
        const inner = term.exprKind;
        const isSame = inner.case === 'callExpr' && inner.value.function === name;
        const node = read(term);
        return isSame && (node.kind === 'and' || node.kind === 'or') && !isWrapped(node)
          ? node.terms
          : [node];
      });
      return { kind: name === '_&&_' ? 'and' : 'or', terms, ...around(terms) };
    }
    const args = rest.map(read);
    if (name === '_?_:_') {
      const [test, yes, no] = args as [Node, Node, Node];
      return { kind: 'condition', test, yes, no, ...around(args) };
    }
    if (name === '_[_]') {
      const open = token(at);
      const start = wrapped(need(args[0])).start;
      return call(name, false, args, { start, end: token(closing(at)).end }, open);
    }
    if (name === '!_' || name === '-_') {
      const span = { start: token(at).start, end: wrapped(need(args[0])).end };
      return call(name, false, args, span, token(at));
    }
    if (!/^[A-Za-z_.]/.test(name) || name.startsWith('_') || name === '@in') {
      return call(name, false, args, around(args), token(operatorAt(args)));
    }
    const dotted = token(at).text === '.' ? at + 1 : at;
    const span = { start: token(at).start, end: token(closing(dotted + 1)).end };
    return call(name.replace(/^\./, ''), false, args, span, token(dotted));
  };

  /** The operator between two operands. */
  const operatorAt = (args: readonly Node[]): number => {
    const { end } = wrapped(args[0] ?? END);
    return (byEnd.get(end) ?? 0) + 1;
  };
  const isWrapped = (node: Node): boolean => wrapped(node).start !== node.start;

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
        return readMacro(exprKind.value, at, token(at + 1).text);
      default:
        throw new Error('the expression has a part of an unknown kind');
    }
  };
  return { read };
}

const END = { kind: 'sign', start: 0, end: 0, text: '', match: -1 } as const;

function call(name: string, isMethod: boolean, args: readonly Node[], span: Span, nameSpan: Span): Node {
  return { kind: 'call', name, isMethod, args, start: span.start, end: span.end, nameSpan };
}

/** The dotted path of members that an expression is; null for another. */
export function pathOf(node: Node): string | null {
  if (node.kind === 'name') return node.name;
  if (node.kind !== 'select' || node.test) return null;
  const owner = pathOf(node.operand);
  return owner === null ? null : `${owner}.${node.field}`;
}
