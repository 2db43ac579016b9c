import { childrenOf, type Node } from './ast.js';
import { compareNumeric, isNumeric, type NumberValue } from './numbers.js';
import type { Span } from './problem.js';
import { pathOf } from './tree-reader.js';
import type { RequiredTexts } from './types.js';
import type { Value } from './values.js';

/** What a term demands of the value of a path of members, to be true. */
interface Demand {
  readonly path: string;
  /** It is one of these; null without such a demand. */
  readonly oneOf: readonly Value[] | null;
  /** It is none of these. */
  readonly noneOf: readonly Value[];
  readonly least: Bound | null;
  readonly most: Bound | null;
}

interface Bound {
  readonly value: NumberValue;
  /** Whether the value itself is excluded. */
  readonly isOpen: boolean;
}

/** The operator that holds where another does not. */
const OPPOSITE: Readonly<Record<string, string>> = {
  '_==_': '_!=_',
  '_!=_': '_==_',
  '_<_': '_>=_',
  '_<=_': '_>_',
  '_>_': '_<=_',
  '_>=_': '_<_',
};
/** The operator with its sides exchanged. */
const MIRROR: Readonly<Record<string, string>> = {
  '_<_': '_>_',
  '_<=_': '_>=_',
  '_>_': '_<_',
  '_>=_': '_<=_',
};

/**
 * Whether an expression is the same whatever the values are, errors aside, by contradictory or complementary comparisons of
 * one path with constants: `x == 'a' && x == 'b'`, `x > 5 && x < 3`, `x != 'a' || x != 'b'`. Finds no contradiction between
 * different paths. The span is the part that decides.
 */
export function findForegone(node: Node): { readonly value: boolean; readonly span: Span } | null {
  if (node.kind === 'const' && typeof node.value === 'boolean') return { value: node.value, span: node };
  if (node.kind === 'call' && node.name === '!_') {
    const inner = node.args[0] === undefined ? null : findForegone(node.args[0]);
    return inner === null ? null : { value: !inner.value, span: inner.span };
  }
  if (node.kind !== 'and' && node.kind !== 'or') return null;
  const deciding = node.kind === 'or';
  const found = node.terms.map(findForegone);
  const decided = found.find((one) => one?.value === deciding);
  if (decided !== undefined && decided !== null) return decided;
  const last = found.at(-1);
  if (last !== undefined && last !== null && found.every((one) => one !== null)) {
    return { value: !deciding, span: node };
  }
  const demands = node.terms.map((term) => demandOf(term, deciding)).filter((demand) => demand !== null);
  const paths = new Set(demands.map(({ path }) => path));
  for (const path of paths) {
    if (isContradiction(demands.filter((demand) => demand.path === path)))
      return { value: deciding, span: node };
  }
  return null;
}

/** What a term demands to be true, or, `negated`, to be false. */
function demandOf(term: Node, negated: boolean): Demand | null {
  if (term.kind === 'call' && term.name === '!_' && term.args[0] !== undefined)
    return demandOf(term.args[0], !negated);
  if (term.kind === 'or' && !negated) return demandOfAny(term.terms);
  if (term.kind !== 'call') return null;
  const [left, right] = term.args;
  if (left === undefined || right === undefined) return null;
  if (term.name === '@in') {
    const path = pathOf(left);
    const items = right.kind === 'list' ? right.items.map(constantOf) : [undefined];
    if (path === null || items.includes(undefined)) return null;
    const values = items as Value[];
    return negated ? { ...NOTHING, path, noneOf: values } : { ...NOTHING, path, oneOf: values };
  }
  const [path, constant, isMirrored] =
    right.kind === 'const'
      ? [pathOf(left), constantOf(right), false]
      : [pathOf(right), constantOf(left), true];
  if (path === null || constant === undefined) return null;
  const written = isMirrored ? (MIRROR[term.name] ?? term.name) : term.name;
  const operator = negated ? OPPOSITE[written] : written;
  switch (operator) {
    case '_==_':
      return { ...NOTHING, path, oneOf: [constant] };
    case '_!=_':
      return { ...NOTHING, path, noneOf: [constant] };
    case '_<_':
    case '_<=_':
      return isNumeric(constant)
        ? { ...NOTHING, path, most: { value: constant, isOpen: operator === '_<_' } }
        : null;
    case '_>_':
    case '_>=_':
      return isNumeric(constant)
        ? { ...NOTHING, path, least: { value: constant, isOpen: operator === '_>_' } }
        : null;
    default:
      return null;
  }
}

const NOTHING = { oneOf: null, noneOf: [], least: null, most: null } as const;

/** `x == 'a' || x == 'b'` demands one of both. */
function demandOfAny(terms: readonly Node[]): Demand | null {
  const demands = terms.map((term) => demandOf(term, false));
  const path = demands[0]?.path;
  if (path === undefined || !demands.every((one) => one?.path === path && one.oneOf !== null)) return null;
  return { ...NOTHING, path, oneOf: demands.flatMap((one) => one?.oneOf ?? []) };
}

/** Texts, numbers and bools; undefined for all else. NaN, which equals nothing, is left out. */
function constantOf(node: Node): Value | undefined {
  if (node.kind !== 'const') return undefined;
  const { value } = node;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  return isNumeric(value) && compareNumeric(value, value) === 0 ? value : undefined;
}

/** Whether no value meets all demands on one path. */
function isContradiction(demands: readonly Demand[]): boolean {
  if (demands.length < 2) return false;
  const lists = demands.map(({ oneOf }) => oneOf).filter((list) => list !== null);
  const [first, ...rest] = lists;
  if (first !== undefined) {
    return !first.some(
      (value) => rest.every((list) => list.some((one) => isSame(one, value))) && isAllowed(value, demands),
    );
  }
  return demands.some(({ least }) =>
    demands.some(({ most }) => least !== null && most !== null && isEmpty(least, most)),
  );
}

function isAllowed(value: Value, demands: readonly Demand[]): boolean {
  return demands.every(({ noneOf, least, most }) => {
    if (noneOf.some((one) => isSame(one, value))) return false;
    if (least === null && most === null) return true;
    if (!isNumeric(value)) return false;
    const point = { value, isOpen: false };
    return (least === null || !isEmpty(least, point)) && (most === null || !isEmpty(point, most));
  });
}

function isEmpty(least: Bound, most: Bound): boolean {
  const order = compareNumeric(least.value, most.value);
  return order > 0 || (order === 0 && (least.isOpen || most.isOpen));
}

function isSame(one: Value, other: Value): boolean {
  return isNumeric(one) && isNumeric(other) ? compareNumeric(one, other) === 0 : one === other;
}

/**
 * The texts of which a variable must equal one for the expression to be true, by the terms at its top: `name == 'x'`, `name in
 * ['a', 'b']`, and `name == 'a' || name == 'b'`. A variable that several terms name has the texts that all of them allow.
 */
export function findRequired(tree: Node, variables: ReadonlySet<string>): readonly RequiredTexts[] {
  const found = new Map<string, readonly string[]>();
  for (const term of tree.kind === 'and' ? tree.terms : [tree]) {
    const demand = demandOf(term, false);
    const texts = demand?.oneOf?.filter((value) => typeof value === 'string');
    if (demand === null || texts === undefined || texts.length !== demand.oneOf?.length) continue;
    if (!variables.has(demand.path)) continue;
    const before = found.get(demand.path);
    found.set(
      demand.path,
      before === undefined ? [...new Set(texts)] : before.filter((text) => texts.includes(text)),
    );
  }
  return [...found].map(([variable, texts]) => ({ variable, texts }));
}

/** Members and variables that an expression reads, each once: the longest paths, in order of the text. */
export function findReads(tree: Node, isVariable: (node: Node) => boolean): string[] {
  const found = new Set<string>();
  const visit = (node: Node): void => {
    const path = readPath(node, isVariable);
    if (path !== null) found.add(path);
    else for (const child of childrenOf(node)) visit(child);
  };
  visit(tree);
  return [...found];
}

/** The path of a member of a variable, also in `has` and with constant indexes; null for another node. */
function readPath(node: Node, isVariable: (node: Node) => boolean): string | null {
  if (node.kind === 'name') return isVariable(node) ? node.name : null;
  if (node.kind === 'select') {
    const owner = readPath(node.operand, isVariable);
    return owner === null ? null : `${owner}.${node.field}`;
  }
  if (node.kind !== 'call' || node.name !== '_[_]') return null;
  const [container, key] = node.args;
  const owner = container === undefined ? null : readPath(container, isVariable);
  if (owner === null || key?.kind !== 'const') return null;
  if (typeof key.value === 'string') return `${owner}.${key.value}`;
  return typeof key.value === 'number' ? `${owner}[${key.value}]` : null;
}
