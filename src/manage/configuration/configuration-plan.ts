import { type AppliedObject, type Family, type ObjectName, objectKey } from '../controls/applied-object.js';
import { digestOf } from './configuration-object.js';
import type { MemberMerge } from './member-merge.js';

/** An object as it is stored. */
export interface StoredObject extends ObjectName {
  /** Equal for equal contents. */
  readonly text: string;
}

/** An object of the documents, with what is to be stored. */
export interface WantedObject extends ObjectName {
  readonly kind: string;
  readonly text: string;
  /** Another text that means the same, as it is stored. */
  readonly sameAs?: string | null;
}

export type ChangeKind = 'create' | 'update' | 'delete' | 'unchanged';

/** What becomes of an object. */
export interface PlannedChange extends ObjectName {
  readonly kind: string;
  readonly change: ChangeKind;
  /** Null for nothing. */
  readonly before: string | null;
  readonly after: string | null;
  /** Of `after`; of what was merged, of what the owner has. */
  readonly digest: string | null;
  /** What the owner has, where `after` is something else because it was merged. */
  readonly base: string | null;
  readonly adopted: boolean;
  /** Whether what is remembered of it differs from what is to be remembered. */
  readonly remembers: boolean;
}

export type ConflictReason = 'other_owner' | 'changed_elsewhere' | 'deleted_elsewhere' | 'exists' | 'in_use';

/** Why an object cannot be applied. */
export interface Conflict extends ObjectName {
  readonly kind: string;
  readonly reason: ConflictReason;
  readonly owner: string | null;
  readonly changedBy: string | null;
  /** The members that were changed on both sides, where members are merged. */
  readonly members?: readonly string[];
}

/** What applying does; nothing may be done if there are conflicts. */
export interface Plan {
  readonly changes: readonly PlannedChange[];
  readonly conflicts: readonly Conflict[];
  /** Those that the owner applied and that are stored no longer, so that only what is remembered of them goes. */
  readonly forgotten: readonly ObjectName[];
}

export interface PlanInput {
  readonly owner: string;
  /** Each object once. */
  readonly wanted: readonly WantedObject[];
  /** The stored ones of those that are wanted, and of those that the owner has applied. */
  readonly stored: ReadonlyMap<string, StoredObject>;
  /** What is remembered of these, by key. */
  readonly applied: ReadonlyMap<string, Omit<AppliedObject, 'base'>>;
  readonly prune: boolean;
  /** Whether a conflict of an object is resolved by the documents. */
  readonly overwrites: (object: ObjectName, kind: string) => boolean;
  /** What becomes of objects whose members are merged, by key. The others are compared as a whole. */
  readonly merges?: ReadonlyMap<string, MemberMerge>;
  /** Whether of an object with conflicting members the others are changed; otherwise nothing of it is. */
  readonly keepsConflicts?: boolean;
}

/** Compares what is wanted with what is stored and with what was applied before. Pure. */
export function planConfiguration(input: PlanInput): Plan {
  const { owner, wanted, stored, applied, overwrites, merges, keepsConflicts = false } = input;
  const changes: PlannedChange[] = [];
  const conflicts: Conflict[] = [];
  const keys = new Set<string>();
  for (const object of wanted) {
    const key = objectKey(object);
    keys.add(key);
    const { kind } = object;
    const before = stored.get(key);
    const known = applied.get(key);
    const isOverwritten = overwrites(object, kind);
    const merge = isOverwritten ? undefined : merges?.get(key);
    const reason = conflictOf(object, before, known, owner, merge);
    if (reason !== null && (reason === 'other_owner' || !isOverwritten)) {
      conflicts.push(conflictOn(object, kind, reason, known?.owner ?? null, merge));
      if (merge === undefined || !keepsConflicts) continue;
    }
    const wantedText = merge?.after ?? object.text;
    const isKept = before !== undefined && isSame(before, { ...object, text: wantedText });
    // What is stored is remembered, so that a later look at it finds no change; of what was merged, what the owner has.
    const after = isKept ? before.text : wantedText;
    const base = merge === undefined || after === object.text ? null : object.text;
    const digest = digestOf(base ?? after);
    changes.push({
      ...nameOf(object),
      kind,
      change: before === undefined ? 'create' : isKept ? 'unchanged' : 'update',
      before: before?.text ?? null,
      after,
      digest,
      base,
      adopted: before !== undefined && known === undefined,
      remembers: known?.owner !== owner || known.digest !== digest,
    });
  }
  const forgotten: ObjectName[] = [];
  if (input.prune) {
    for (const [key, known] of applied) {
      if (keys.has(key) || known.owner !== owner) continue;
      const before = stored.get(key);
      const kind = KIND_OF_FAMILY[known.family];
      if (before === undefined) forgotten.push(nameOf(known));
      else if (digestOf(before.text) !== known.digest && !overwrites(known, kind)) {
        conflicts.push(conflictOn(known, kind, 'changed_elsewhere', owner));
      } else {
        const texts = { before: before.text, after: null, digest: null, base: null };
        changes.push({ ...nameOf(known), kind, change: 'delete', ...texts, adopted: false, remembers: true });
      }
    }
  }
  return { changes, conflicts, forgotten };
}

/** The kind by which objects are named that have no document. */
export const KIND_OF_FAMILY: Readonly<Record<Family, string>> = {
  control: 'Control',
  policy: 'Policy',
  pack: 'Pack',
  links: 'AgentLinks',
};

type Known = Pick<AppliedObject, 'owner' | 'digest'>;

function conflictOf(
  object: WantedObject,
  before: StoredObject | undefined,
  known: Known | undefined,
  owner: string,
  merge: MemberMerge | undefined,
): ConflictReason | null {
  if (known === undefined) return before === undefined || isSame(before, object) ? null : 'exists';
  if (known.owner !== owner) {
    // What the other owner applied does not exist any more: nothing of it is lost.
    return before === undefined ? null : 'other_owner';
  }
  if (before === undefined) return 'deleted_elsewhere';
  if (merge !== undefined) return merge.conflicts.length > 0 ? 'changed_elsewhere' : null;
  if (isSame(before, object)) return null;
  return digestOf(before.text) === known.digest ? null : 'changed_elsewhere';
}

function isSame(before: StoredObject, { text, sameAs = null }: WantedObject): boolean {
  return before.text === text || before.text === sameAs;
}

/** A conflict of an object, of which it is not known who made it. */
export function conflictOn(
  object: ObjectName,
  kind: string,
  reason: ConflictReason,
  owner: string | null,
  merge?: MemberMerge,
): Conflict {
  const members = merge === undefined ? {} : { members: merge.conflicts };
  return { ...nameOf(object), kind, reason, owner, changedBy: null, ...members };
}

/** The name alone. */
export function nameOf({ family, name, policy }: ObjectName): ObjectName {
  return policy === undefined ? { family, name } : { family, name, policy };
}
