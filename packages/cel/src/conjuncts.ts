import { childrenOf, type Node } from './ast.js';
import { type Checked, checkTypes } from './check.js';
import { parseExpression } from './parse-text.js';
import { ProblemList, type Span } from './problem.js';
import type { VariableTypes } from './types.js';

/** Names from a variable to a member of it; a path ends before an index that is no constant text. */
export type MemberPath = readonly string[];

/** A part of an expression with what it reads. */
export interface ReadingPart extends Span {
  readonly text: string;
  /** The longest paths, each once, in order of the text. */
  readonly reads: readonly MemberPath[];
  /** Whether it reads the time. */
  readonly readsNow: boolean;
}

/** A term of the `&&` at the top of an expression; it is an expression by itself. */
export interface Conjunct extends ReadingPart {
  /** Both sides if the term is an `==`. */
  readonly sides: readonly [ReadingPart, ReadingPart] | null;
}

/** The terms of an expression of which all must be true; an expression without `&&` is one. None for a text that is none. */
export function conjunctsOf(text: string, variables: VariableTypes): readonly Conjunct[] {
  const { tree } = parseExpression(text);
  if (tree === null) return [];
  const checked = checkTypes(tree, variables, new ProblemList());
  const partOf = (node: Node): ReadingPart => ({
    start: node.start,
    end: node.end,
    text: text.slice(node.start, node.end),
    ...readingsOf(node, checked),
  });
  return termsOf(tree).map((term) => {
    const [left, right] = term.kind === 'call' && term.name === '_==_' ? term.args : [];
    const sides = left === undefined || right === undefined ? null : ([partOf(left), partOf(right)] as const);
    return { ...partOf(term), sides };
  });
}

function termsOf(node: Node): readonly Node[] {
  return node.kind === 'and' ? node.terms.flatMap(termsOf) : [node];
}

function readingsOf(tree: Node, checked: Checked): Pick<ReadingPart, 'reads' | 'readsNow'> {
  const found = new Map<string, MemberPath>();
  let readsNow = false;
  const visit = (node: Node): void => {
    if (node.kind === 'name' && checked.names.get(node)?.kind === 'now') readsNow = true;
    const path = memberPath(node, checked);
    if (path !== null) found.set(JSON.stringify(path), path);
    else for (const child of childrenOf(node)) visit(child);
  };
  visit(tree);
  return { reads: [...found.values()], readsNow };
}

/** The path of a member of a variable, also in `has`; null for another node. */
function memberPath(node: Node, checked: Checked): MemberPath | null {
  if (node.kind === 'name') return checked.names.get(node)?.kind === 'variable' ? [node.name] : null;
  if (node.kind === 'select') {
    const owner = memberPath(node.operand, checked);
    return owner === null ? null : [...owner, node.field];
  }
  if (node.kind !== 'call' || node.name !== '_[_]') return null;
  const [container, key] = node.args;
  if (container === undefined || key?.kind !== 'const' || typeof key.value !== 'string') return null;
  const owner = memberPath(container, checked);
  return owner === null ? null : [...owner, key.value];
}
