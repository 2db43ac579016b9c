import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { type AppliedObject, objectKey } from '../controls/applied-object.js';
import { createControlVersionStore } from '../controls/control-version-store.js';
import { readStoredDefinition } from '../controls/definition-presentation.js';
import { digestOf } from './configuration-object.js';
import type { ConfigurationSet } from './configuration-set.js';
import { type MemberMerge, mergeMembers } from './member-merge.js';
import type { PreparedControl } from './prepared-controls.js';

/** Newest versions of a control among which that is looked for which its owner applied. */
const MAX_SEARCHED = 100;

/** Controls as they are merged, and what was merged, by key. */
export interface MergedSet {
  readonly set: ConfigurationSet;
  readonly merges: ReadonlyMap<string, MemberMerge>;
}

/**
 * Merges the controls of a set that were changed since the owner applied them with those changes. One of which is not known any more
 * what was applied is not merged, and so a conflict; those of `isOverwritten` are not merged either.
 */
export async function mergeSet(
  scope: Scoped,
  set: ConfigurationSet,
  owner: string,
  isOverwritten: (control: PreparedControl) => boolean,
  registry: EvaluatorRegistry,
): Promise<MergedSet> {
  const merges = new Map<string, MemberMerge>();
  const controls: PreparedControl[] = [];
  for (const one of set.controls) {
    const key = objectKey(one.desired);
    const stored = set.storedControls.get(one.desired.name);
    const known = set.applied.get(key);
    controls.push(one);
    if (stored === undefined || known?.owner !== owner || isOverwritten(one)) continue;
    if (stored.data === one.text || one.sameAs !== null || digestOf(stored.data) === known.digest) continue;
    const base = await appliedText(scope, stored.id, known);
    if (base === undefined) continue;
    const merge = mergeMembers({ base, stored: stored.data, wanted: one.text }, registry);
    merges.set(key, merge);
    const read = readStoredDefinition(merge.after, registry);
    if (read.ok) controls[controls.length - 1] = { ...one, control: read.stored, text: merge.after };
  }
  return { set: { ...set, controls }, merges };
}

/** What an owner has applied: remembered if it was merged, and otherwise a version of the control. */
async function appliedText(
  scope: Scoped,
  controlId: number,
  { base, digest }: AppliedObject,
): Promise<string | undefined> {
  const wasApplied = (text: string) => digestOf(text) === digest;
  // Programs of earlier versions leave an older one.
  if (base !== null && wasApplied(base)) return base;
  return (await createControlVersionStore(scope).texts(controlId, MAX_SEARCHED)).find(wasApplied);
}
