import { ANY } from './signatures.js';
import type { CelType } from './types.js';

/** Most types of a union; beyond them nothing is known. */
const MAX_ALTERNATIVES = 16;
const NUMBERS = new Set<CelType['kind']>(['int', 'uint', 'double', 'number']);
const ORDERED = new Set<CelType['kind']>(['string', 'bool', 'bytes', 'timestamp', 'duration']);

/** The name of a type, as messages and completions show it. */
export function typeName(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return type.item.kind === 'any' ? 'list' : `list(${typeName(type.item)})`;
    case 'map':
      return type.value.kind === 'any' ? 'map' : `map(string, ${typeName(type.value)})`;
    case 'union':
      return [...new Set(type.types.map(typeName))].join(' or ');
    default:
      return type.kind;
  }
}

/** The types that a value of a type may have. */
export function alternatives(type: CelType): readonly CelType[] {
  return type.kind === 'union' ? type.types : [type];
}

/** The type of a value that has one of several types. */
export function unionOf(types: readonly CelType[]): CelType {
  const found: CelType[] = [];
  for (const type of types.flatMap(alternatives)) {
    if (type.kind === 'any') return ANY;
    const isKnown = found.some((one) => one === type || (one.kind === type.kind && isSimple(type)));
    if (!isKnown) found.push(type);
  }
  const [first] = found;
  if (first === undefined || found.length > MAX_ALTERNATIVES) return ANY;
  return found.length === 1 ? first : { kind: 'union', types: found };
}

function isSimple({ kind }: CelType): boolean {
  return kind !== 'list' && kind !== 'map' && kind !== 'object' && kind !== 'union';
}

export function isNumberType({ kind }: CelType): boolean {
  return NUMBERS.has(kind);
}

/** Whether a value of a type may be passed where another type is wanted. */
export function isAssignable(actual: CelType, wanted: CelType): boolean {
  if (actual.kind === 'any' || wanted.kind === 'any') return true;
  if (actual.kind === 'union') return actual.types.some((type) => isAssignable(type, wanted));
  if (wanted.kind === 'union') return wanted.types.some((type) => isAssignable(actual, type));
  if (wanted.kind === 'number') return isNumberType(actual);
  if (actual.kind === 'number') return wanted.kind === 'int' || wanted.kind === 'double';
  if (wanted.kind === 'list') return actual.kind === 'list' && isAssignable(actual.item, wanted.item);
  if (wanted.kind === 'map') return actual.kind === 'map' || actual.kind === 'object';
  if (wanted.kind === 'object') return actual.kind === 'map' || actual.kind === 'object';
  return actual.kind === wanted.kind;
}

/** Whether values of the types may be equal. */
export function mayBeEqual(one: CelType, other: CelType): boolean {
  return pairs(one, other).some(([left, right]) => {
    if (left.kind === 'any' || right.kind === 'any' || left.kind === 'null' || right.kind === 'null')
      return true;
    if (isNumberType(left)) return isNumberType(right);
    if (left.kind === 'list' && right.kind === 'list') return mayBeEqual(left.item, right.item);
    return isAssignable(left, right) || isAssignable(right, left);
  });
}

/** Whether values of the types may have an order. */
export function mayBeOrdered(one: CelType, other: CelType): boolean {
  return pairs(one, other).some(([left, right]) => {
    if (left.kind === 'any') return right.kind === 'any' || ORDERED.has(right.kind) || isNumberType(right);
    if (right.kind === 'any') return ORDERED.has(left.kind) || isNumberType(left);
    return isNumberType(left) ? isNumberType(right) : ORDERED.has(left.kind) && left.kind === right.kind;
  });
}

/** The type of the result of `+`, `-`, `*`, `/` or `%`; null if it takes no such types. */
export function arithmeticType(operator: string, one: CelType, other: CelType): CelType | null {
  const results = pairs(one, other)
    .map(([left, right]) => resultOf(operator, left, right))
    .filter((type) => type !== null);
  return results.length === 0 ? null : unionOf(results);
}

function resultOf(operator: string, left: CelType, right: CelType): CelType | null {
  if (left.kind === 'any' || right.kind === 'any') return ANY;
  if (isNumberType(left) && isNumberType(right)) return numberResult(operator, left, right);
  if (operator !== '_+_' && operator !== '_-_') return null;
  const [one, other] = [left.kind, right.kind];
  if (one === 'duration' && other === 'duration') return left;
  if (one === 'timestamp' && other === 'duration') return left;
  if (operator === '_-_') return one === 'timestamp' && other === 'timestamp' ? { kind: 'duration' } : null;
  if (one === 'duration' && other === 'timestamp') return right;
  if (left.kind === 'list' && right.kind === 'list')
    return { kind: 'list', item: unionOf([left.item, right.item]) };
  return one === other && (one === 'string' || one === 'bytes') ? left : null;
}

function numberResult(operator: string, left: CelType, right: CelType): CelType | null {
  if (left.kind === 'uint' || right.kind === 'uint') return left.kind === right.kind ? left : null;
  if (operator === '_%_') return left.kind === 'double' || right.kind === 'double' ? null : { kind: 'int' };
  if (left.kind === 'number' || right.kind === 'number') return { kind: 'number' };
  return left.kind === right.kind ? left : null;
}

function pairs(one: CelType, other: CelType): readonly (readonly [CelType, CelType])[] {
  return alternatives(one).flatMap((left) => alternatives(other).map((right) => [left, right] as const));
}
