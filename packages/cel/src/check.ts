import type { MacroNode, NameNode, Node } from './ast.js';
import { type Checker, checkCall } from './check-calls.js';
import { MAX_MACRO_DEPTH } from './limits.js';
import { itemOf, keyOf, memberType, valueTypeOf } from './member-types.js';
import { Names, type Resolution } from './names.js';
import type { ProblemList } from './problem.js';
import { ANY, BOOL } from './signatures.js';
import { isAssignable, typeName, unionOf } from './type-relations.js';
import type { CelType, VariableTypes } from './types.js';
import { kindOf, type Value } from './values.js';

export { NOW, type Resolution } from './names.js';

/** Outcome of the type check. */
export interface Checked {
  readonly type: CelType;
  readonly typeOf: ReadonlyMap<Node, CelType>;
  readonly names: ReadonlyMap<NameNode, Resolution>;
  /** The slot of the variable of each macro. */
  readonly slotOf: ReadonlyMap<Node, number>;
  readonly slots: number;
}

/** Finds the type of every node, and what each name stands for. Problems go to the list; it does not stop at one. */
export function checkTypes(tree: Node, variables: VariableTypes, problems: ProblemList): Checked {
  const typeOf = new Map<Node, CelType>();
  const names = new Names(variables, problems);
  let macros = 0;

  const checkMacro = (node: MacroNode): CelType => {
    const range = check(node.range);
    macros += 1;
    if (macros > MAX_MACRO_DEPTH) {
      problems.add(
        'limit',
        node,
        `more than ${MAX_MACRO_DEPTH} of all, exists, map, filter are inside one another`,
      );
    }
    const item = node.second === null ? itemOf(range) : keyOf(range);
    if (item === null)
      problems.add('type', node.range, `${node.macro} takes a list or map, not ${typeName(range)}`);
    const second = node.second === null ? null : { name: node.second, type: valueTypeOf(range) };
    const result = names.within(node, { name: node.variable, type: item ?? ANY }, second, () => {
      if (node.filter !== null) demandBool(node.filter, check(node.filter), `the condition of ${node.macro}`);
      const body = check(node.body);
      if (node.macro === 'map' || node.macro === 'transformList') return { kind: 'list', item: body };
      if (node.macro === 'transformMap') return { kind: 'map', value: body };
      demandBool(node.body, body, `the condition of ${node.macro}`);
      return node.macro === 'filter' ? { kind: 'list', item: item ?? ANY } : BOOL;
    });
    macros -= 1;
    return result;
  };

  const demandBool = (node: Node, type: CelType, what: string): void => {
    if (!isAssignable(type, BOOL)) problems.add('type', node, `${what} is ${typeName(type)}, not bool`);
  };

  const infer = (node: Node): CelType => {
    switch (node.kind) {
      case 'const':
        return constantType(node.value);
      case 'name':
        return names.check(node);
      case 'select': {
        const type = memberType(node, check(node.operand), problems);
        return node.test ? BOOL : type;
      }
      case 'call':
        return checkCall(checker, node);
      case 'and':
      case 'or':
        for (const term of node.terms)
          demandBool(term, check(term), `an operand of ${node.kind === 'and' ? '&&' : '||'}`);
        return BOOL;
      case 'condition': {
        demandBool(node.test, check(node.test), 'the condition of ?:');
        return unionOf([check(node.yes), check(node.no)]);
      }
      case 'list':
        return { kind: 'list', item: node.items.length === 0 ? ANY : unionOf(node.items.map(check)) };
      case 'map': {
        const keys = node.entries.map(([key]) => check(key));
        const values = node.entries.map(([, value]) => check(value));
        // The type of a map says nothing of its keys: they are texts, as those of JSON.
        const hasTexts = keys.length > 0 && keys.every(({ kind }) => kind === 'string');
        return hasTexts ? { kind: 'map', value: unionOf(values) } : ANY;
      }
      case 'macro':
        return checkMacro(node);
      case 'bind': {
        const value = check(node.value);
        return names.within(node, { name: node.variable, type: value }, null, () => check(node.body));
      }
    }
  };

  const check = (node: Node): CelType => {
    const type = infer(node);
    typeOf.set(node, type);
    return type;
  };
  const checker: Checker = { problems, check };
  const type = check(tree);
  if (!isAssignable(type, BOOL)) {
    problems.add('result', tree, `the result is ${typeName(type)}, but must be bool`);
  }
  return { type, typeOf, names: names.resolved, slotOf: names.slotOf, slots: names.slots };
}

function constantType(value: Value): CelType {
  const kind = kindOf(value);
  if (kind === 'list') return { kind, item: ANY };
  if (kind === 'map') return { kind, value: ANY };
  return kind === 'fault' ? ANY : { kind };
}
