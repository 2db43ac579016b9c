import type { Span } from './problem.js';
import type { Value } from './values.js';

/** The tree of an expression. Macros are nodes of their own; chains of `&&` and of `||` are one node each. */
export type Node =
  | ConstNode
  | NameNode
  | SelectNode
  | CallNode
  | LogicNode
  | ConditionNode
  | ListNode
  | MapNode
  | MacroNode
  | BindNode;

export interface ConstNode extends Span {
  readonly kind: 'const';
  readonly value: Value;
}

export interface NameNode extends Span {
  readonly kind: 'name';
  readonly name: string;
}

/** `operand.field`; `test` for `has(operand.field)`. */
export interface SelectNode extends Span {
  readonly kind: 'select';
  readonly operand: Node;
  readonly field: string;
  readonly fieldSpan: Span;
  readonly test: boolean;
}

/** A function, method or operator; the target of a method is the first of `args`. */
export interface CallNode extends Span {
  readonly kind: 'call';
  /** Operators as in the specification: `_+_`, `_[_]`, `@in`, `!_`. */
  readonly name: string;
  readonly isMethod: boolean;
  readonly args: readonly Node[];
  readonly nameSpan: Span;
}

export interface LogicNode extends Span {
  readonly kind: 'and' | 'or';
  readonly terms: readonly Node[];
}

export interface ConditionNode extends Span {
  readonly kind: 'condition';
  readonly test: Node;
  readonly yes: Node;
  readonly no: Node;
}

export interface ListNode extends Span {
  readonly kind: 'list';
  readonly items: readonly Node[];
}

export interface MapNode extends Span {
  readonly kind: 'map';
  readonly entries: readonly (readonly [key: Node, value: Node])[];
}

/** The last two exist with two variables only. */
export type MacroName = 'all' | 'exists' | 'exists_one' | 'map' | 'filter' | 'transformList' | 'transformMap';

/**
 * `range.macro(variable, body)`, or with two variables, of an index or key and a value; `map` with three arguments has a `filter`
 * besides, as `transformList` and `transformMap` may.
 */
export interface MacroNode extends Span {
  readonly kind: 'macro';
  readonly macro: MacroName;
  readonly range: Node;
  readonly variable: string;
  readonly second: string | null;
  readonly filter: Node | null;
  readonly body: Node;
}

/** `cel.bind(variable, value, body)`. */
export interface BindNode extends Span {
  readonly kind: 'bind';
  readonly variable: string;
  readonly value: Node;
  readonly body: Node;
}

/** The nodes directly below one, in order of the text. */
export function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'const':
    case 'name':
      return [];
    case 'select':
      return [node.operand];
    case 'call':
      return node.args;
    case 'and':
    case 'or':
      return node.terms;
    case 'condition':
      return [node.test, node.yes, node.no];
    case 'list':
      return node.items;
    case 'map':
      return node.entries.flat();
    case 'macro':
      return node.filter === null ? [node.range, node.body] : [node.range, node.filter, node.body];
    case 'bind':
      return [node.value, node.body];
  }
}

/** Number of nodes of a tree. */
export function countNodes(node: Node): number {
  return childrenOf(node).reduce((sum, child) => sum + countNodes(child), 1);
}
