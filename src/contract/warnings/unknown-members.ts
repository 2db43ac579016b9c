import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { list_wrapper, only_for_type } from '../../../gen/proto/enforcement/v1/options_pb.js';
import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { pathPart, quoted } from '../errors/quoted.js';
import { optionOf } from './proto-option.js';
import { createSuggester, type Suggester } from './suggestion.js';
import type { Warning } from './warning.js';

/** Spelling of messages in JSON: that of the JSON routes, or of the JSON mapping of protobuf. */
export type Spelling = 'rest' | 'protobuf';

export interface UnknownMembersOptions {
  readonly spelling: Spelling;
  /** Path of the value; empty for a whole request. */
  readonly path?: string;
  /** Members of the top level that are read from another source, so that they have no effect here. */
  readonly elsewhere?: readonly string[];
  /** Whether an object is a placeholder, whose content is not checked. */
  readonly isPlaceholder?: (value: JsonObject) => boolean;
}

/**
 * Older spellings accepted in requests, by message: the name, and the message and member that it stands for.
 * `manage/controls/condition-reader.ts` and `manage/controls/definition-schema.ts` read them.
 */
const OLDER_NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'enforcement.v1.ControlDefinition': { selector: 'condition.selector', evaluator: 'condition.evaluator' },
  'enforcement.v1.Condition': { and_: 'and', or_: 'or', not_: 'not' },
};

/**
 * Members of a JSON value that its message does not have, at every level, in document order. Free-form JSON,
 * such as the configuration of an evaluator, is not checked. Recursion is as deep as the messages are nested
 * in the value.
 */
export function* unknownMembers(
  desc: DescMessage,
  value: JsonValue,
  options: UnknownMembersOptions,
): Generator<Warning, void> {
  const { path = '', elsewhere = [] } = options;
  yield* inMessage(desc, value, path, { ...options, ...createSuggester() }, new Set(elsewhere));
}

type Walk = UnknownMembersOptions & Suggester;

function* inMessage(
  desc: DescMessage,
  value: JsonValue,
  path: string,
  options: Walk,
  elsewhere: ReadonlySet<string>,
): Generator<Warning, void> {
  if (!isObject(value) || options.isPlaceholder?.(value) === true) return;
  const fields = fieldsOf(desc, options.spelling);
  for (const [name, member] of Object.entries(value)) {
    const field = elsewhere.has(name) ? undefined : fields.get(name);
    const place = memberPath(path, field?.name ?? name);
    if (field === undefined) {
      const message = elsewhere.has(name)
        ? 'has no effect here; the path of the request says it'
        : `unknown member${options.didYouMean(name, namesOf(desc))}`;
      yield { code: 'unknown_member', field: place, message };
      continue;
    }
    const misplaced = misplacedProblem(field, value);
    if (misplaced !== null && member !== null) yield { code: 'no_effect', field: place, message: misplaced };
    else yield* inField(field, member, place, options);
  }
}

/** Path of a member of the value at `path`. */
export function memberPath(path: string, name: string): string {
  return path === '' ? pathPart(name) : `${path}.${pathPart(name)}`;
}

function* inField(field: DescField, value: JsonValue, path: string, options: Walk): Generator<Warning, void> {
  const { message } = field;
  // The well-known types contain free-form JSON.
  if (message === undefined || message.typeName.startsWith('google.protobuf.')) return;
  if (optionOf(message, list_wrapper)) {
    const [wrapped] = message.fields;
    const items = options.spelling === 'rest' ? value : wrappedList(value, wrapped);
    if (wrapped !== undefined) yield* inField(wrapped, items, path, options);
  } else if (field.fieldKind === 'list') {
    if (!Array.isArray(value)) return;
    for (const [index, item] of value.entries())
      yield* inMessage(message, item, `${path}[${index}]`, options, NONE);
  } else if (field.fieldKind === 'map') {
    if (!isObject(value)) return;
    for (const [key, item] of Object.entries(value))
      yield* inMessage(message, item, memberPath(path, key), options, NONE);
  } else {
    yield* inMessage(message, value, path, options, NONE);
  }
}

const NONE: ReadonlySet<string> = new Set();

function wrappedList(value: JsonValue, wrapped: DescField | undefined): JsonValue {
  if (!isObject(value) || wrapped === undefined) return null;
  return value[wrapped.name] ?? value[wrapped.jsonName] ?? null;
}

/** Why a member has no effect with the `type` of its message; null when it has one. */
function misplacedProblem(field: DescField, value: JsonObject): string | null {
  const types = optionOf(field, only_for_type);
  const { type } = value;
  if (types.length === 0 || typeof type !== 'string' || types.includes(type)) return null;
  return `has no effect with the type ${quoted(type)}; it is for ${types.join(', ')}`;
}

const known = new Map<string, ReadonlyMap<string, DescField>>();

/** The fields of a message by every name accepted for them. */
function fieldsOf(desc: DescMessage, spelling: Spelling): ReadonlyMap<string, DescField> {
  const key = `${spelling} ${desc.typeName}`;
  const existing = known.get(key);
  if (existing !== undefined) return existing;
  const fields = new Map(desc.fields.map((field) => [field.name, field]));
  if (spelling === 'protobuf') for (const field of desc.fields) fields.set(field.jsonName, field);
  else {
    for (const [older, path] of Object.entries(OLDER_NAMES[desc.typeName] ?? {})) {
      const field = fieldAt(desc, path.split('.'));
      if (field !== undefined) fields.set(older, field);
    }
  }
  known.set(key, fields);
  return fields;
}

function fieldAt(desc: DescMessage, [name, ...rest]: readonly string[]): DescField | undefined {
  const field = desc.fields.find((one) => one.name === name);
  return rest.length === 0 || field?.message === undefined ? field : fieldAt(field.message, rest);
}

function namesOf(desc: DescMessage): string[] {
  return desc.fields.map(({ name }) => name);
}
