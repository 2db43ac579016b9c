import { FIELD_REQUIRED } from '../../../../src/contract/input/messages.js';
import { invalidRequest } from '../../../../src/contract/input/parse-input.js';
import { isObject, type JsonObject, type JsonValue } from '../../../exact-json/src/index.js';

/** The error of a member of a request. */
export const refusedMember = (field: string, message: string, code = 'value_error'): Error =>
  invalidRequest([{ resource: 'Request', field, code, message }]);

/** Most items of a list in a message. */
export const MAX_ITEMS = 10_000;

/**
 * Reads members of a message of another protocol. A member that is required and absent, or of another type, throws a
 * VALIDATION_ERROR that names it by its path. Null is as absent.
 */
export interface Members {
  readonly all: JsonObject;
  /** A text that is not empty. */
  text(name: string): string;
  optionalText(name: string): string | undefined;
  object(name: string): Members;
  optionalObject(name: string): Members | undefined;
  /** At most MAX_ITEMS items. */
  list(name: string): readonly JsonValue[];
  optionalList(name: string): readonly JsonValue[] | undefined;
  /** The items of a list, each of which must be an object. */
  objects(name: string): readonly Members[];
  /** The items of a list, each of which must be a text. */
  texts(name: string): readonly string[];
  /** Throws the error that a member is wrong. */
  refuse(name: string, message: string, code?: string): never;
}

/** Members of a message, or of one of its parts at `place`, such as `agent.`. */
export function membersOf(all: JsonObject, place = ''): Members {
  const value = (name: string): JsonValue | undefined =>
    Object.hasOwn(all, name) ? (all[name] ?? undefined) : undefined;

  function refuse(name: string, message: string, code?: string): never {
    throw refusedMember(`${place}${name}`, message, code);
  }

  function required<T>(name: string, read: (name: string) => T | undefined): T {
    return read(name) ?? refuse(name, FIELD_REQUIRED, 'missing');
  }

  function optionalText(name: string): string | undefined {
    const found = value(name);
    if (found === undefined || typeof found === 'string') return found;
    return refuse(name, 'must be a string', 'string_type');
  }

  function optionalObject(name: string): Members | undefined {
    const found = value(name);
    if (found === undefined) return undefined;
    return isObject(found)
      ? membersOf(found, `${place}${name}.`)
      : refuse(name, 'must be an object', 'dict_type');
  }

  function optionalList(name: string): readonly JsonValue[] | undefined {
    const found = value(name);
    if (found === undefined) return undefined;
    if (!Array.isArray(found)) return refuse(name, 'must be a list', 'list_type');
    if (found.length <= MAX_ITEMS) return found;
    return refuse(name, `must have at most ${MAX_ITEMS} items, not ${found.length}`, 'too_long');
  }

  return {
    all,
    optionalText,
    optionalObject,
    optionalList,
    refuse,
    text(name) {
      const found = required(name, optionalText);
      return found === '' ? refuse(name, 'must not be empty', 'string_too_short') : found;
    },
    object: (name) => required(name, optionalObject),
    list: (name) => required(name, optionalList),
    objects: (name) =>
      required(name, optionalList).map((item, index) => {
        const at = `${name}[${index}]`;
        return isObject(item)
          ? membersOf(item, `${place}${at}.`)
          : refuse(at, 'must be an object', 'dict_type');
      }),
    texts: (name) =>
      required(name, optionalList).map((item, index) =>
        typeof item === 'string' ? item : refuse(`${name}[${index}]`, 'must be a string', 'string_type'),
      ),
  };
}

/** Members without those that are undefined. */
export function given(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** A member that is a text; undefined for every other. */
export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
