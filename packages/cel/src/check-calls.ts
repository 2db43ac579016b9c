import type { CallNode, Node } from './ast.js';
import { keyOf, LIBRARY, type LibraryFunction } from './library.js';
import { itemOf, memberType } from './member-types.js';
import { nearest, type ProblemList } from './problem.js';
import { ANY, BOOL, ITEM, type Signature } from './signatures.js';
import { arithmeticType, isAssignable, mayBeEqual, mayBeOrdered, typeName } from './type-relations.js';
import type { CelType } from './types.js';

const ARITHMETIC = new Set(['_+_', '_-_', '_*_', '_/_', '_%_']);
const ORDER = new Set(['_<_', '_<=_', '_>_', '_>=_']);

/** State of a check. */
export interface Checker {
  readonly problems: ProblemList;
  check(node: Node): CelType;
}

/** The type of a call, with its problems. */
export function checkCall(checker: Checker, node: CallNode): CelType {
  const { name } = node;
  const types = node.args.map((arg) => checker.check(arg));
  const [one = ANY, other = ANY] = types;
  if (ARITHMETIC.has(name)) return arithmetic(checker, node, one, other);
  if (ORDER.has(name)) {
    if (!mayBeOrdered(one, other)) mismatch(checker, node, one, other, 'which have no order');
    return BOOL;
  }
  switch (name) {
    case '_==_':
    case '_!=_':
      if (!mayBeEqual(one, other)) mismatch(checker, node, one, other, 'which are never equal');
      return BOOL;
    case '@in':
      return membership(checker, node, one, other);
    case '_[_]':
      return index(checker, node, one, other);
    case '!_':
      if (!isAssignable(one, BOOL)) checker.problems.add('type', node, `! takes bool, not ${typeName(one)}`);
      return BOOL;
    case '-_':
      return negation(checker, node, one);
    default:
      return libraryCall(checker, node, types);
  }
}

function symbolOf(name: string): string {
  return name === '@in' ? 'in' : name.replaceAll('_', '');
}

function arithmetic({ problems }: Checker, node: CallNode, one: CelType, other: CelType): CelType {
  const type = arithmeticType(node.name, one, other);
  if (type !== null) return type;
  const message = `${symbolOf(node.name)} does not take ${typeName(one)} and ${typeName(other)}`;
  problems.add('type', node, `${message}; convert one, with int(), double() or string()`);
  return ANY;
}

function negation({ problems }: Checker, node: CallNode, type: CelType): CelType {
  if (isAssignable(type, { kind: 'number' }) && type.kind !== 'uint') return type;
  problems.add('type', node, `- takes a number, not ${typeName(type)}`);
  return ANY;
}

/** A comparison of types that do not go together: at the constant, if one is, with what may replace it. */
function mismatch(checker: Checker, node: CallNode, one: CelType, other: CelType, why: string): void {
  const message = `${symbolOf(node.name)} compares ${typeName(one)} with ${typeName(other)}, ${why}`;
  const [left, right] = node.args as [Node, Node];
  const constant = right.kind === 'const' ? right : left.kind === 'const' ? left : null;
  const suggestion = constant === null ? null : asType(constant, constant === right ? one : other);
  checker.problems.add(
    'type',
    suggestion === null || constant === null ? node : constant,
    message,
    suggestion,
  );
}

/** A constant as it is written in another type; null if it cannot be. */
function asType(node: Node & { kind: 'const' }, wanted: CelType): string | null {
  const { value } = node;
  if (wanted.kind === 'string' && (typeof value === 'boolean' || typeof value === 'number'))
    return `'${value}'`;
  if (typeof value !== 'string') return null;
  if (isAssignable(wanted, { kind: 'number' }) && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value)) return value;
  return wanted.kind === 'bool' && (value === 'true' || value === 'false') ? value : null;
}

function membership({ problems }: Checker, node: CallNode, one: CelType, other: CelType): CelType {
  const item = itemOf(other);
  const [, container] = node.args as [Node, Node];
  if (item === null) {
    const hint = other.kind === 'string' ? '; use contains' : '';
    problems.add('type', container, `in takes a list or map, not ${typeName(other)}${hint}`);
  } else if (!mayBeEqual(one, item)) {
    problems.add(
      'type',
      node,
      `in looks for ${typeName(one)} among ${typeName(item)}, which are never equal`,
    );
  }
  return BOOL;
}

function index({ problems }: Checker, node: CallNode, owner: CelType, key: CelType): CelType {
  const [, keyNode] = node.args as [Node, Node];
  if (owner.kind === 'list') {
    if (!isAssignable(key, { kind: 'int' }) && !isAssignable(key, { kind: 'number' })) {
      problems.add('type', keyNode, `the index of a list is int, not ${typeName(key)}`);
    }
    return owner.item;
  }
  if (owner.kind === 'map') return owner.value;
  if (owner.kind === 'object' || owner.kind === 'union') {
    const isField = keyNode.kind === 'const' && typeof keyNode.value === 'string';
    if (isField) return memberType({ field: keyNode.value as string, fieldSpan: keyNode }, owner, problems);
    return ANY;
  }
  if (owner.kind !== 'any') problems.add('type', node, `[] takes a list or map, not ${typeName(owner)}`);
  return ANY;
}

function libraryCall(checker: Checker, node: CallNode, types: readonly CelType[]): CelType {
  const { name, isMethod, nameSpan } = node;
  const known = LIBRARY.get(keyOf(name, isMethod));
  const { problems } = checker;
  if (known === undefined) {
    if (LIBRARY.has(keyOf(name, !isMethod))) {
      const message = isMethod
        ? `${name} is no method; write ${name}(…)`
        : `${name} is a method; write x.${name}(…)`;
      problems.add('unknown_name', nameSpan, message);
      return ANY;
    }
    const names = [...LIBRARY.values()].filter((one) => one.isMethod === isMethod).map((one) => one.name);
    const macros = isMethod ? ['all', 'exists', 'exists_one', 'map', 'filter'] : ['has'];
    if (macros.includes(name)) {
      const shape = name === 'has' ? 'has(x.member)' : `list.${name}(item, condition)`;
      problems.add('unknown_name', nameSpan, `${name} is written ${shape}`);
      return ANY;
    }
    const suggestion = nearest(name, [...names, ...macros]);
    problems.add(
      'unknown_name',
      nameSpan,
      `there is no ${isMethod ? 'method' : 'function'} ${name.slice(0, 60)}`,
      suggestion,
    );
    return ANY;
  }
  const fitting = known.signatures.filter((signature) => fits(signature, types));
  const [first] = fitting;
  if (first === undefined) {
    problems.add('type', node, `${name} ${refusal(known, types)}`);
    return known.signatures[0]?.result ?? ANY;
  }
  return resultType(fitting, types);
}

function fits({ params, isVariadic }: Signature, types: readonly CelType[]): boolean {
  if (isVariadic ? types.length < params.length : types.length !== params.length) return false;
  return types.every((type, at) => {
    const param = params[Math.min(at, params.length - 1)];
    return param !== undefined && isAssignable(type, param);
  });
}

function refusal({ signatures }: LibraryFunction, types: readonly CelType[]): string {
  const forms = [...new Set(signatures.map(({ text }) => text))].slice(0, 4).join(', ');
  return `does not take (${types.map(typeName).join(', ')}); its forms: ${forms}`;
}

/** The result of the overloads that fit, with the item type of the list that was given. */
function resultType(fitting: readonly Signature[], types: readonly CelType[]): CelType {
  const [first] = fitting;
  if (first === undefined) return ANY;
  const isSame = fitting.every(({ result }) => result.kind === first.result.kind);
  if (!isSame) return ANY;
  const list = types[0];
  if (first.result.kind === 'list' && first.result.item === ITEM && list?.kind === 'list') return list;
  return first.result;
}
