import type { ErrorItem } from '../../contract/errors/service-error.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Scoped } from '../../storage/database/scoped.js';
import type { ObjectName } from '../controls/applied-object.js';
import { CONTROL_KINDS } from './configuration-object.js';
import { conflictOn, type Plan, planConfiguration } from './configuration-plan.js';
import type { ApplyInput } from './configuration-schemas.js';
import type { ConfigurationSet } from './configuration-set.js';
import { withAuthors } from './conflict-authors.js';
import type { PreparedControl } from './prepared-controls.js';
import { incompatibleLinks } from './set-compatibility.js';
import { mergeSet } from './set-merges.js';
import { removedReferences } from './set-references.js';
import { usedElsewhere } from './set-uses.js';

/** A plan, with the set as it is written, and what is wrong with it because of the plan. */
export interface SetPlan extends Plan {
  readonly set: ConfigurationSet;
  readonly problems: readonly ErrorItem[];
}

/** What applying a set does, in its transaction. */
export async function planSet(
  scope: Scoped,
  input: Pick<ApplyInput, 'owner' | 'prune' | 'overwrite' | 'merge'>,
  read: ConfigurationSet,
  registry: EvaluatorRegistry,
): Promise<SetPlan> {
  const { owner, prune } = input;
  const overwrites = overwritesOf(input.overwrite);
  const isOverwritten = ({ desired }: PreparedControl) => overwrites(desired, desired.kind);
  const merged = input.merge ? await mergeSet(scope, read, owner, isOverwritten, registry) : { set: read };
  const { set } = merged;
  const plan = planConfiguration({ ...set, ...merged, owner, prune, overwrites });
  const removed = plan.changes.filter(({ change }) => change === 'delete');
  const used = removed.length === 0 ? [] : await usedElsewhere(scope, set, removed);
  const inUse = used
    .filter((one) => !overwrites(one, one.kind))
    .map((one) => conflictOn(one, one.kind, 'in_use', owner));
  return {
    ...plan,
    set,
    conflicts: [...(await withAuthors(scope, plan.conflicts, set)), ...inUse],
    problems: [
      ...removedReferences(set, removed),
      ...(await incompatibleLinks(scope, set, plan.changes, registry)),
    ],
  };
}

/** Whether objects are named as "KIND/NAME", for controls with any of their kinds; "*" names all. */
function overwritesOf(overwrite: readonly string[]): (object: ObjectName, kind: string) => boolean {
  const named = new Set(overwrite);
  return ({ family, name }, kind) => {
    const kinds = family === 'control' ? CONTROL_KINDS : [kind];
    return named.has('*') || kinds.some((one) => named.has(`${one}/${name}`));
  };
}
