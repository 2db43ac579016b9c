import type { MacroName, Node } from './ast.js';
import { isQualifiedFunction } from './library.js';
import { argsOf, type Comprehension, callName, type Expr, itemsOf, nameOf, need } from './official-tree.js';
import type { Span } from './problem.js';
import type { TokenPlaces } from './token-places.js';

type Read = (expr: Expr) => Node;

/** Macros with two variables, which the parser leaves as calls. */
const TWO_VARIABLES: ReadonlyMap<string, MacroName> = new Map([
  ['all', 'all'],
  ['exists', 'exists'],
  ['exists_one', 'exists_one'],
  ['existsOne', 'exists_one'],
  ['transformList', 'transformList'],
  ['transformMap', 'transformMap'],
]);

/** Reads calls of functions, methods and operators. `read` reads an expression. */
export function createCallReader(places: TokenPlaces, read: Read) {
  const { token, tokenOf, closing, wrapped, around, operatorAt, isWrapped } = places;

  const readMethod = (at: number, name: string, target: Expr, rest: readonly Expr[]): Node => {
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
  };

  const readCall = (expr: Expr, name: string, target: Expr | undefined, rest: readonly Expr[]): Node => {
    const at = tokenOf(expr);
    if (target !== undefined) return readMethod(at, name, target, rest);
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

  return readCall;
}

/** The macro that a comprehension was made of. */
export function readMacro(
  { token, closing, wrapped }: TokenPlaces,
  read: Read,
  value: Comprehension,
  at: number,
): Node {
  const name = token(at + 1).text;
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
}

function call(name: string, isMethod: boolean, args: readonly Node[], span: Span, nameSpan: Span): Node {
  return { kind: 'call', name, isMethod, args, start: span.start, end: span.end, nameSpan };
}
