import { areEqual, compareValues, countDigits, isMap, mapValue } from './equality.js';
import { isIn, isList } from './list-functions.js';
import { type Arithmetic, arithmetic, int64Of, isNumeric, NAN_ORDER, negate } from './numbers.js';
import type { Code, Run } from './run.js';
import { durationValue, nanosOf, timeBetween, timestampOfNanos } from './time-text.js';
import {
  CelBytes,
  CelDuration,
  CelTimestamp,
  Fault,
  kindOf,
  mapKeyOf,
  TYPE_NAMES,
  type Value,
} from './values.js';

/** The fault of a call that takes no arguments of these kinds. */
export function noOverload(name: string, args: readonly Value[]): Fault {
  return new Fault(`${name} does not take (${args.map((arg) => TYPE_NAMES[kindOf(arg)]).join(', ')})`);
}

/** Compiles an operator; null for another name. `path` names the part in messages. */
export function compileOperator(name: string, args: readonly Code[], path: string): Code | null {
  const [one, other] = args as [Code, Code];
  switch (name) {
    case '_==_':
      return equality(one, other, true);
    case '_!=_':
      return equality(one, other, false);
    case '_<_':
      return order(
        '<',
        one,
        other,
        (found) => found < 0,
        (left, right) => left < right,
      );
    case '_<=_':
      return order(
        '<=',
        one,
        other,
        (found) => found <= 0,
        (left, right) => left <= right,
      );
    case '_>_':
      return order(
        '>',
        one,
        other,
        (found) => found > 0,
        (left, right) => left > right,
      );
    case '_>=_':
      return order(
        '>=',
        one,
        other,
        (found) => found >= 0,
        (left, right) => left >= right,
      );
    case '_+_':
      return sum(one, other);
    case '_-_':
    case '_*_':
    case '_/_':
    case '_%_':
      return calculation(name, one, other);
    case '!_':
      return (run) => {
        const value = one(run);
        if (typeof value === 'boolean') return !value;
        return value instanceof Fault ? value : noOverload('!', [value]);
      };
    case '-_':
      return (run) => {
        const value = one(run);
        if (value instanceof Fault) return value;
        if (value instanceof CelDuration) return durationValue(-value.nanos);
        return negate(value) ?? noOverload('-', [value]);
      };
    case '@in':
      return (run) => {
        const item = one(run);
        if (item instanceof Fault) return item;
        const container = other(run);
        if (container instanceof Fault) return container;
        return isIn(run, item, container) ?? noOverload('in', [item, container]);
      };
    case '_[_]':
      return indexing(one, other, path);
    default:
      return null;
  }
}

function equality(one: Code, other: Code, wanted: boolean): Code {
  return (run) => {
    const left = one(run);
    if (left instanceof Fault) return left;
    const right = other(run);
    if (right instanceof Fault) return right;
    return areEqual(run, left, right) === wanted;
  };
}

/** `isSo` decides by the order that was found, `fast` for numbers that JavaScript compares exactly. */
function order(
  symbol: string,
  one: Code,
  other: Code,
  isSo: (found: number) => boolean,
  fast: (left: number, right: number) => boolean,
): Code {
  return (run) => {
    const left = one(run);
    const right = other(run);
    if (typeof left === 'number' && typeof right === 'number') {
      return Number.isNaN(left) || Number.isNaN(right) ? NAN_ORDER : fast(left, right);
    }
    if (left instanceof Fault) return left;
    if (right instanceof Fault) return right;
    const found = compareValues(run, left, right);
    if (found === undefined) return noOverload(symbol, [left, right]);
    return Number.isNaN(found) ? NAN_ORDER : isSo(found);
  };
}

function sum(one: Code, other: Code): Code {
  return (run) => {
    const left = one(run);
    if (left instanceof Fault) return left;
    const right = other(run);
    if (right instanceof Fault) return right;
    if (typeof left === 'string' && typeof right === 'string') {
      run.makeText(left.length + right.length);
      return left + right;
    }
    if (isNumeric(left) && isNumeric(right)) {
      countDigits(run, left);
      countDigits(run, right);
      return arithmetic('_+_', left, right) ?? noOverload('+', [left, right]);
    }
    return joined(run, left, right) ?? noOverload('+', [left, right]);
  };
}

function joined(run: Run, left: Value, right: Value): Value | undefined {
  if (isList(left) && isList(right)) {
    run.makeItems(left.length + right.length);
    return [...left, ...right];
  }
  if (left instanceof CelBytes && right instanceof CelBytes) {
    run.makeText(left.bytes.length + right.bytes.length);
    const bytes = new Uint8Array(left.bytes.length + right.bytes.length);
    bytes.set(left.bytes);
    bytes.set(right.bytes, left.bytes.length);
    return new CelBytes(bytes);
  }
  if (left instanceof CelDuration && right instanceof CelDuration)
    return durationValue(left.nanos + right.nanos);
  if (left instanceof CelTimestamp && right instanceof CelDuration)
    return timestampOfNanos(nanosOf(left) + right.nanos);
  if (left instanceof CelDuration && right instanceof CelTimestamp)
    return timestampOfNanos(left.nanos + nanosOf(right));
  return undefined;
}

function calculation(name: Arithmetic, one: Code, other: Code): Code {
  const symbol = name.charAt(1);
  return (run) => {
    const left = one(run);
    if (left instanceof Fault) return left;
    const right = other(run);
    if (right instanceof Fault) return right;
    if (isNumeric(left) && isNumeric(right)) {
      countDigits(run, left);
      countDigits(run, right);
      return arithmetic(name, left, right) ?? noOverload(symbol, [left, right]);
    }
    if (name === '_-_') {
      if (left instanceof CelDuration && right instanceof CelDuration)
        return durationValue(left.nanos - right.nanos);
      if (left instanceof CelTimestamp && right instanceof CelDuration) {
        return timestampOfNanos(nanosOf(left) - right.nanos);
      }
      if (left instanceof CelTimestamp && right instanceof CelTimestamp) {
        return timeBetween(right, left);
      }
    }
    return noOverload(symbol, [left, right]);
  };
}

/** `list[index]` and `map[key]`; what is not there is missing. */
function indexing(owner: Code, key: Code, path: string): Code {
  const missing = new Fault(`${path} is missing`, path);
  return (run) => {
    const container = owner(run);
    if (container instanceof Fault) return container;
    const at = key(run);
    if (at instanceof Fault) return at;
    if (isList(container)) {
      const index = indexOf(at);
      if (index === null) return noOverload('[]', [container, at]);
      return index >= 0 && index < container.length ? (container[index] as Value) : missing;
    }
    if (container === null) return missing;
    if (!isMap(container)) return noOverload('[]', [container, at]);
    const normal = mapKeyOf(at);
    if (typeof normal === 'string') run.spend(normal.length / 32);
    const found = normal === undefined ? undefined : mapValue(container, normal);
    return found === undefined ? missing : found;
  };
}

/** The index that a whole number of any kind is. */
function indexOf(value: Value): number | null {
  const key = isNumeric(value) ? mapKeyOf(value) : undefined;
  if (typeof key === 'number') return key;
  return int64Of(value) === null && typeof key !== 'bigint' ? null : -1;
}
