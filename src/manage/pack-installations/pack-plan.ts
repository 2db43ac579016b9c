import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { digestOf } from '../configuration/configuration-object.js';
import {
  type ConflictReason,
  type PlannedChange,
  planConfiguration,
  type StoredObject,
} from '../configuration/configuration-plan.js';
import { isChanged, type MemberMerge, mergeMembers } from '../configuration/member-merge.js';
import { type AppliedObject, type ObjectName, objectKey } from '../controls/applied-object.js';
import { definitionText, type ListedControl } from '../packs/catalogue.js';
import type { InstalledRow } from '../packs/pack-store.js';

/** What an update does to a control; the words of PackChange. */
export type PackChange = 'none' | 'update' | 'conflict' | 'add' | 'remove' | 'absent';

/** A control of an installation or of the pack, with what the plan does with it. */
export interface PlannedControl {
  readonly key: string;
  /** What the installation has; null for a control that is new in the pack. */
  readonly row: InstalledRow | null;
  /** What the pack has now; null if it does not have the control any more. */
  readonly offered: ListedControl | null;
  /** What was changed on which side; null unless the control is there. */
  readonly merge: MemberMerge | null;
  /** Null for one that stays away or as it is. */
  readonly planned: PlannedChange | null;
  readonly conflict: ConflictReason | null;
}

/** What is planned: an installation has `rows`, and is to have the controls of `offered`. */
export interface PackPlanInput {
  readonly pack: string;
  readonly rows: readonly InstalledRow[];
  readonly offered: readonly ListedControl[];
  /** Keys of controls that become what the pack has. */
  readonly overwrite: ReadonlySet<string>;
}

/**
 * Plans a pack as the documents of the owner `pack:NAME`, which its installation has applied before: their members are merged, and what
 * is changed here is kept. The documents are named by their keys, because controls may have been renamed. By key ascending.
 */
export function planPack(
  { pack, rows, offered, overwrite }: PackPlanInput,
  registry: EvaluatorRegistry,
): PlannedControl[] {
  const owner = `pack:${pack}`;
  const inPack = new Map(offered.map((control) => [control.key, control]));
  const stored = new Map<string, StoredObject>();
  const applied = new Map<string, Omit<AppliedObject, 'base'>>();
  const merges = new Map<string, MemberMerge>();
  for (const { key, base, control } of rows) {
    const object = documentOf(key);
    // A text that means the same is no change.
    const text = control === null || isChanged(base, control.data) ? base : control.data;
    applied.set(objectKey(object), { ...object, owner, digest: digestOf(text) });
    if (control === null) continue;
    stored.set(objectKey(object), { ...object, text: control.data });
    const now = inPack.get(key);
    const wanted = now === undefined ? '{}' : definitionText(now);
    merges.set(objectKey(object), mergeMembers({ base, stored: control.data, wanted }, registry));
  }
  const { changes, conflicts } = planConfiguration({
    owner,
    wanted: offered.map((one) => ({ ...documentOf(one.key), kind: 'Control', text: definitionText(one) })),
    stored,
    applied,
    merges,
    keepsConflicts: true,
    prune: true,
    overwrites: ({ name }) => overwrite.has(name),
  });
  const planned = new Map(changes.map((one) => [one.name, one]));
  const reasons = new Map(conflicts.map(({ name, reason }) => [name, reason]));
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const keys = [...new Set([...byKey.keys(), ...inPack.keys()])].sort();
  return keys.map((key) => ({
    key,
    row: byKey.get(key) ?? null,
    offered: inPack.get(key) ?? null,
    merge: merges.get(objectKey(documentOf(key))) ?? null,
    planned: planned.get(key) ?? null,
    conflict: reasons.get(key) ?? null,
  }));
}

function documentOf(key: string): ObjectName {
  return { family: 'control', name: key };
}

/** What an update does to a control, in a word. */
export function packChangeOf({ row, planned, conflict }: PlannedControl): PackChange {
  if (row === null) return 'add';
  if (row.control === null) return 'absent';
  if (conflict !== null) return 'conflict';
  if (planned?.change === 'delete') return 'remove';
  return planned?.change === 'update' ? 'update' : 'none';
}

/** Whether something that was changed here is kept by an update. */
export function keepsChanges({ key, merge }: PlannedControl, overwrite: ReadonlySet<string>): boolean {
  return merge !== null && merge.changedHere.length > 0 && !overwrite.has(key);
}

/**
 * What the names of new controls of an installation begin with: what most names of its controls have before their keys,
 * since they were installed with it; otherwise that of an installation without a choice.
 */
export function prefixOf(
  pack: string,
  rows: readonly { readonly key: string; readonly control: { readonly name: string } | null }[],
): string {
  const counts = new Map<string, number>();
  for (const { key, control } of rows) {
    if (control === null || !control.name.endsWith(key)) continue;
    const prefix = control.name.slice(0, control.name.length - key.length);
    counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  return most?.[0] ?? `${pack}-`;
}
