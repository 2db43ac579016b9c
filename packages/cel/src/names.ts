import type { NameNode, Node } from './ast.js';
import { quoted } from './member-types.js';
import { nearest, type ProblemList } from './problem.js';
import { ANY } from './signatures.js';
import type { CelType, VariableTypes } from './types.js';
import { CelTypeValue } from './values.js';

/** What a name of an expression stands for. */
export type Resolution =
  | { readonly kind: 'variable'; readonly index: number }
  /** The variable of a macro or of `cel.bind`. */
  | { readonly kind: 'slot'; readonly slot: number }
  | { readonly kind: 'now' }
  | { readonly kind: 'type'; readonly value: CelTypeValue };

/** The variable with the time of an evaluation. */
export const NOW = 'now';
const TYPE_VALUES = new Set([
  'bool',
  'bytes',
  'double',
  'int',
  'list',
  'map',
  'null_type',
  'string',
  'type',
  'uint',
]);

/** A variable that the expression itself makes. */
interface Local {
  readonly name: string;
  readonly type: CelType;
}

interface Scope extends Local {
  readonly slot: number;
}

/** The names of an expression, and what each of them stands for. */
export class Names {
  readonly resolved = new Map<NameNode, Resolution>();
  /** The slot of the variable of each macro. */
  readonly slotOf = new Map<Node, number>();
  slots = 0;
  readonly #variables: VariableTypes;
  readonly #problems: ProblemList;
  readonly #order: ReadonlyMap<string, number>;
  readonly #scopes: Scope[] = [];

  constructor(variables: VariableTypes, problems: ProblemList) {
    this.#variables = variables;
    this.#problems = problems;
    this.#order = new Map([...variables.keys()].map((name, index) => [name, index]));
  }

  /** The type of a body in which one or two variables of a node are known. */
  within(node: Node, first: Local, second: Local | null, body: () => CelType): CelType {
    const slot = this.#scopes.length;
    this.slotOf.set(node, slot);
    this.#scopes.push({ ...first, slot });
    if (second !== null) this.#scopes.push({ ...second, slot: slot + 1 });
    this.slots = Math.max(this.slots, this.#scopes.length);
    const result = body();
    this.#scopes.length = slot;
    return result;
  }

  /** The type of what a name stands for. */
  check(node: NameNode): CelType {
    const { name } = node;
    const scope = this.#scopes.findLast((one) => one.name === name);
    if (scope !== undefined) {
      this.resolved.set(node, { kind: 'slot', slot: scope.slot });
      return scope.type;
    }
    const index = this.#order.get(name);
    if (name === NOW) {
      this.resolved.set(node, { kind: 'now' });
      return { kind: 'timestamp' };
    }
    if (index !== undefined) {
      this.resolved.set(node, { kind: 'variable', index });
      return this.#variables.get(name) ?? ANY;
    }
    if (TYPE_VALUES.has(name)) {
      this.resolved.set(node, { kind: 'type', value: new CelTypeValue(name) });
      return { kind: 'type' };
    }
    const known = [
      ...this.#scopes.map((one) => one.name),
      ...this.#variables.keys(),
      NOW,
      'true',
      'false',
      'null',
    ];
    const suggestion = nearest(name, known);
    this.#problems.add('unknown_name', node, `there is no variable ${quoted(name)}`, suggestion);
    return ANY;
  }
}
