import {
  isObject,
  type JsonObject,
  type JsonValue,
  jsonEqual,
  parseStoredJson,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';

import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { readStoredDefinition } from '../controls/definition-presentation.js';

/** The texts of a definition in three places. */
export interface ThreeTexts {
  /** As its owner applied it last. */
  readonly base: string;
  /** As it is stored, with what was changed here since. */
  readonly stored: string;
  /** As its owner has it now. */
  readonly wanted: string;
}

/** What becomes of the members of a definition that may have been changed on both sides. Names are sorted. */
export interface MemberMerge {
  readonly changedHere: readonly string[];
  readonly changedByOwner: readonly string[];
  /** Those that get what the owner has. */
  readonly updated: readonly string[];
  /** Changes of the owner that are not made, because they would undo those that were made here. */
  readonly conflicts: readonly string[];
  /** The text with what was changed on either side. */
  readonly after: string;
}

/** A definition that cannot be read differs as a whole. */
const WHOLE = 'data';

/**
 * Merges members of a definition, those of its action one by one: where only the owner changed one, it becomes what the owner
 * has; what was changed here stays. A definition is kept as a whole if one that is made of both could not be stored, or if it is made
 * from a template on either side.
 */
export function mergeMembers({ base, stored, wanted }: ThreeTexts, registry: EvaluatorRegistry): MemberMerge {
  const [before, now, offered] = [membersOf(base), membersOf(stored), membersOf(wanted)];
  const [changedHere, changedByOwner] = [differing(before, now), differing(before, offered)];
  const kept: MemberMerge = { changedHere, changedByOwner, updated: [], conflicts: [], after: stored };
  if (changedByOwner.length === 0) return kept;
  if (changedHere.length === 0) return { ...kept, updated: changedByOwner, after: wanted };
  const asWhole = { ...kept, conflicts: changedByOwner };
  if ([now, offered].some((one) => one.has(WHOLE) || one.has('template'))) return asWhole;
  const updated = changedByOwner.filter((name) => !changedHere.includes(name));
  const conflicts = changedByOwner.filter(
    (name) => changedHere.includes(name) && !jsonEqual(memberOf(now, name), memberOf(offered, name)),
  );
  if (updated.length === 0) return { ...kept, conflicts };
  const read = readStoredDefinition(withMembers(now, offered, updated), registry);
  return read.ok ? { ...kept, updated, conflicts, after: stringifyJson(read.stored) } : asWhole;
}

/** Whether two texts are of different definitions. */
export function isChanged(base: string, stored: string): boolean {
  return base !== stored && differing(membersOf(base), membersOf(stored)).length > 0;
}

/** The members by name, without absent ones; only the whole of what is no definition. */
type Members = ReadonlyMap<string, JsonValue>;

function membersOf(text: string): Members {
  const value = parsed(text);
  if (!isObject(value)) return new Map([[WHOLE, value ?? text]]);
  const { action, ...others } = value;
  const members = isObject(action)
    ? [
        ...Object.entries(others),
        ...Object.entries(action).map(([name, one]) => [`${ACTION}${name}`, one] as const),
      ]
    : Object.entries(value);
  return new Map(members.filter(([, one]) => !isEmpty(one)));
}

const ACTION = 'action.';

/** An empty list or object restricts nothing, as does an absent one. */
function isEmpty(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === null || (isObject(value) && Object.keys(value).length === 0);
}

function differing(one: Members, other: Members): string[] {
  const names = new Set([...one.keys(), ...other.keys()]);
  return [...names].filter((name) => !jsonEqual(memberOf(one, name), memberOf(other, name))).sort();
}

function memberOf(members: Members, name: string): JsonValue {
  return members.get(name) ?? null;
}

function withMembers(now: Members, offered: Members, updated: readonly string[]): string {
  const definition: JsonObject = {};
  const action: JsonObject = {};
  for (const name of new Set([...now.keys(), ...updated])) {
    const value = memberOf(updated.includes(name) ? offered : now, name);
    if (value === null) continue;
    if (name.startsWith(ACTION)) action[name.slice(ACTION.length)] = value;
    else definition[name] = value;
  }
  return stringifyJson({ ...definition, action });
}

function parsed(text: string): JsonValue | undefined {
  try {
    return parseStoredJson(text);
  } catch {
    return undefined;
  }
}
