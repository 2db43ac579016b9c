import {
  isObject,
  type JsonObject,
  type JsonValue,
  jsonEqual,
  parseStoredJson,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';

/** What an update does to a control; the words of PackChange. */
export type PackChange = 'none' | 'update' | 'conflict' | 'add' | 'remove' | 'absent';

/** The texts of a definition in three places; null where there is none. */
export interface ThreeTexts {
  /** As the pack had it when it was installed or updated last; null if the installation does not know the control. */
  readonly base: string | null;
  /** As it is stored now. */
  readonly current: string | null;
  /** As the pack has it now. */
  readonly pack: string | null;
}

/** A control of an installation, compared with the pack. */
export interface Comparison {
  readonly change: PackChange;
  /** Names of members, sorted. */
  readonly changedHere: readonly string[];
  readonly changedInPack: readonly string[];
  readonly updatedMembers: readonly string[];
  /** The text of the definition after an update; null if there is none. */
  readonly after: string | null;
}

/** Members of a definition that are compared as a whole, and those of its action, one by one. */
const MEMBERS = [
  'condition',
  'description',
  'enabled',
  'execution',
  'scope',
  'tags',
  'template',
  'template_values',
];
const ACTION_MEMBERS = ['decision', 'steering_context', 'metadata'];
/** A definition that cannot be read differs as a whole. */
const WHOLE = 'data';

/**
 * Compares a control with what was installed and with what the pack has now. Members that only the pack changed get what
 * it has; those that were changed here are kept. `isValid`: whether a definition made of both can be stored; if not, or if
 * the control is made from a template, it is kept as a whole.
 */
export function compareControl(texts: ThreeTexts, isValid: (text: string) => boolean): Comparison {
  const { base, current, pack } = texts;
  if (base === null) return { ...NOTHING, change: pack === null ? 'absent' : 'add', after: pack };
  if (current === null) return { ...NOTHING, change: 'absent' };
  const [before, now] = [membersOf(base), membersOf(current)];
  const changedHere = differing(before, now);
  if (pack === null) {
    const changedInPack = [...before.keys()].filter((name) => before.get(name) !== null).sort();
    if (changedHere.length === 0) return { ...NOTHING, change: 'remove', changedInPack };
    return { change: 'conflict', changedHere, changedInPack, updatedMembers: [], after: current };
  }
  const offered = membersOf(pack);
  const changedInPack = differing(before, offered);
  const both = { changedHere, changedInPack };
  if (changedInPack.length === 0) return { ...both, change: 'none', updatedMembers: [], after: current };
  if (changedHere.length === 0)
    return { ...both, change: 'update', updatedMembers: changedInPack, after: pack };
  const kept = { ...both, change: 'conflict', updatedMembers: [], after: current } as const;
  if (now.has(WHOLE) || now.get('template') !== null) return kept;
  const updatedMembers = changedInPack.filter((name) => !changedHere.includes(name));
  const isConflict = changedInPack.some(
    (name) => changedHere.includes(name) && !jsonEqual(inMembers(now, name), inMembers(offered, name)),
  );
  if (updatedMembers.length === 0) return { ...kept, change: isConflict ? 'conflict' : 'none' };
  const after = merged(now, offered, updatedMembers);
  if (!isValid(after)) return kept;
  return { ...both, change: isConflict ? 'conflict' : 'update', updatedMembers, after };
}

const NOTHING: Comparison = {
  change: 'absent',
  changedHere: [],
  changedInPack: [],
  updatedMembers: [],
  after: null,
};

/** Whether two texts are of different definitions. */
export function isChanged(base: string, current: string): boolean {
  return base !== current && differing(membersOf(base), membersOf(current)).length > 0;
}

type Members = ReadonlyMap<string, JsonValue>;

/** The members by name, null where they are absent; only the whole of what is no definition. */
function membersOf(text: string): Members {
  const value = parsed(text);
  if (!isObject(value)) return new Map([[WHOLE, value ?? text]]);
  const members = new Map(MEMBERS.map((name): [string, JsonValue] => [name, plain(member(value, name))]));
  const action = member(value, 'action');
  for (const name of ACTION_MEMBERS) {
    members.set(`action.${name}`, isObject(action) ? plain(member(action, name)) : null);
  }
  return members;
}

/** An empty list or object restricts nothing, as does an absent one. */
function plain(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.length === 0 ? null : value;
  return isObject(value) && Object.keys(value).length === 0 ? null : value;
}

function differing(one: Members, other: Members): string[] {
  const names = new Set([...one.keys(), ...other.keys()]);
  return [...names].filter((name) => !jsonEqual(inMembers(one, name), inMembers(other, name))).sort();
}

function inMembers(members: Members, name: string): JsonValue {
  return members.get(name) ?? null;
}

/** In the order in which definitions are stored, so that equal ones have equal texts. */
function merged(now: Members, offered: Members, updated: readonly string[]): string {
  const value = (name: string): JsonValue => inMembers(updated.includes(name) ? offered : now, name);
  const definition: JsonObject = {};
  const put = (object: JsonObject, name: string, found: JsonValue): void => {
    if (found !== null) object[name] = found;
  };
  for (const name of ['condition', 'description', 'enabled', 'execution', 'scope'])
    put(definition, name, value(name));
  const action: JsonObject = {};
  for (const name of ACTION_MEMBERS) put(action, name, value(`action.${name}`));
  definition.action = action;
  put(definition, 'tags', value('tags'));
  return stringifyJson(definition);
}

function member(object: JsonObject, name: string): JsonValue {
  return Object.hasOwn(object, name) ? (object[name] ?? null) : null;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return parseStoredJson(text);
  } catch {
    return undefined;
  }
}
