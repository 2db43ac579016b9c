import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';

/** Throws when stored data do not have the expected shape. */
export function check(holds: boolean, problem: string): asserts holds {
  if (!holds) throw new Error(problem);
}

/** An own property; undefined when there is none. */
export function strictMember(data: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(data, name) ? data[name] : undefined;
}

/** The functions below throw when the value is absent or of another type; `what` names it in the message. */
export function objectOf(value: JsonValue | undefined, what: string): JsonObject {
  check(isObject(value), `${what} is not an object`);
  return value;
}

export function objectIn(data: JsonObject, name: string): JsonObject {
  return objectOf(strictMember(data, name), name);
}

export function textIn(data: JsonObject, name: string): string {
  const value = strictMember(data, name);
  check(typeof value === 'string', `${name} is not a text`);
  return value;
}

/** Absent and null both read as null. */
export function optionalTextIn(data: JsonObject, name: string): string | null {
  const value = strictMember(data, name);
  return value === undefined || value === null ? null : textIn(data, name);
}

/** Absent and null both read as false. */
export function flagIn(data: JsonObject, name: string): boolean {
  const value = strictMember(data, name);
  return value === undefined || value === null ? false : booleanIn(data, name);
}

export function booleanIn(data: JsonObject, name: string): boolean {
  const value = strictMember(data, name);
  check(typeof value === 'boolean', `${name} is neither true nor false`);
  return value;
}

export function listIn(data: JsonObject, name: string): JsonValue[] {
  const value = strictMember(data, name);
  check(Array.isArray(value), `${name} is not a list`);
  return value;
}

export function textsIn(data: JsonObject, name: string): string[] {
  return listIn(data, name).map((item) => {
    check(typeof item === 'string', `${name} has an item that is not a text`);
    return item;
  });
}

export function wordIn<T extends string>(data: JsonObject, name: string, words: readonly T[]): T {
  return wordOf(strictMember(data, name), words, name);
}

export function wordOf<T extends string>(value: JsonValue | undefined, words: readonly T[], what: string): T {
  const found = words.find((word) => word === value);
  check(found !== undefined, `${what} is none of ${words.join(', ')}`);
  return found;
}
