import {
  isObject,
  type JsonObject,
  type JsonValue,
  jsonEqual,
  parseStoredJson,
} from '../../../packages/exact-json/src/index.js';
import type { CallContext } from '../../contract/call/handler.js';
import type { Scoped } from '../../storage/database/scoped.js';
import type { ControlRow } from './control-store.js';
import {
  createControlVersionStore,
  type NewControlVersion,
  type VersionEvent,
} from './control-version-store.js';

/** The recorded content of a control, and its time. */
export type RecordedControl = Pick<ControlRow, 'id' | 'name' | 'data' | 'updatedAtMs'>;

/** A change of a control. */
export interface RecordedVersion {
  readonly eventType: VersionEvent;
  /** Short description of the change. */
  readonly note: string;
  /** The previously stored control; null for a new control. */
  readonly before: RecordedControl | null;
  readonly after: RecordedControl;
}

/** Members of a definition in change descriptions. */
const MEMBERS = [
  'condition',
  'description',
  'enabled',
  'execution',
  'scope',
  'action',
  'tags',
  'template',
  'template_values',
];

/**
 * Adds a version to the history of a control, in the transaction that changes it, and returns its number. Every
 * mutation of a control calls it exactly once.
 */
export function recordVersion(
  scope: Scoped,
  context: CallContext,
  version: RecordedVersion,
): Promise<number> {
  return createControlVersionStore(scope).append(newVersion(context, version));
}

/** The same for many controls, each once. */
export function recordVersions(
  scope: Scoped,
  context: CallContext,
  versions: readonly RecordedVersion[],
): Promise<void> {
  return createControlVersionStore(scope).appendAll(versions.map((version) => newVersion(context, version)));
}

function newVersion(
  { principal }: CallContext,
  { eventType, note, before, after }: RecordedVersion,
): NewControlVersion {
  return {
    controlId: after.id,
    eventType,
    note,
    createdAtMs: after.updatedAtMs,
    keyFingerprint: principal.keyFingerprint,
    author: principal.name ?? principal.level,
    changedMembers: before === null ? [] : changedMembers(before, after),
    name: after.name,
    data: after.data,
  };
}

/** The members of a control that differ, in order; only `data` when the definitions are not comparable. */
export function changedMembers(
  before: Pick<RecordedControl, 'name' | 'data'>,
  after: Pick<RecordedControl, 'name' | 'data'>,
): string[] {
  const name = before.name === after.name ? [] : ['name'];
  return [...name, ...changedDataMembers(before.data, after.data)];
}

function changedDataMembers(before: string, after: string): string[] {
  if (before === after) return [];
  const [old, current] = [parsedObject(before), parsedObject(after)];
  if (old === undefined || current === undefined) return ['data'];
  const differing = MEMBERS.filter((member) => !jsonEqual(memberOf(old, member), memberOf(current, member)));
  return differing.map((member) => `data.${member}`);
}

/** A null member is equivalent to an absent one. */
function memberOf(value: JsonObject, member: string): JsonValue {
  return Object.hasOwn(value, member) ? (value[member] ?? null) : null;
}

function parsedObject(text: string): JsonObject | undefined {
  try {
    const value = parseStoredJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
