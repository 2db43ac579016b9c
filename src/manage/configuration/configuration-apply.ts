import type { HandlerCall } from '../../contract/call/handler.js';
import type { ErrorItem } from '../../contract/errors/service-error.js';
import { listed, mistakeItems } from '../../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Database } from '../../storage/database/database.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import { objectKey } from '../controls/applied-object.js';
import type { Reviewer } from '../controls/control-review.js';
import type { ReferenceProblems } from '../controls/reference-problems.js';
import type { PackCatalogue } from '../packs/catalogue.js';
import type { DesiredControl } from './configuration-object.js';
import type { PlannedChange } from './configuration-plan.js';
import {
  configurationConflict,
  objectsOf,
  refuseProblems,
  revisionChanged,
  shownConflict,
} from './configuration-problems.js';
import type { ApplyInput } from './configuration-schemas.js';
import { type ConfigurationSet, readSet, type Wanted } from './configuration-set.js';
import { createConfigurationState } from './configuration-state.js';
import { createDocumentReader } from './document-reading.js';
import { prepareControls, referenceItems } from './prepared-controls.js';
import { planSet, type SetPlan } from './set-plan.js';
import { appliedFact, shownChanges } from './set-reply.js';
import { rememberSet, writeSet } from './set-writing.js';
import { createWorkLimit, WORK_LIMIT_MS } from './work-limit.js';

export interface ApplyOptions {
  readonly database: Pick<Database, 'client'>;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  /** Makes a reviewer that reads the registrations of agents once for all controls of a request. */
  readonly newReviewer: () => Reviewer;
  readonly referenceProblems: ReferenceProblems;
  readonly catalogue: PackCatalogue;
  /** Reads the labels of registrations of programs that do not read them. */
  readonly catchUpLabels: () => Promise<void>;
  /** Whether mistakes in definitions are always rejected. */
  readonly strict: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Applies configurations. */
export function createConfigurationApply(options: ApplyOptions) {
  const { database, mutate, registry, referenceProblems, catalogue, now } = options;
  const { client } = database;
  const readDocuments = createDocumentReader(registry);

  /** All that can be known before a transaction; refuses documents that are wrong by themselves. */
  async function prepare(context: HandlerCall, input: ApplyInput) {
    const read = await readDocuments(input.documents);
    const { objects, problems } = objectsOf(read.documents, context.principal.namespace.name);
    const controls = objects.filter((one): one is DesiredControl => one.family === 'control');
    const scope = scopeOf(context, client);
    const rows = await createConfigurationState(scope).controls(controls.map(({ name }) => name));
    const byName = new Map(rows.map((row) => [row.name, row]));
    const preparing = { client, registry, reviewer: options.newReviewer() };
    const strict = input.strict || options.strict;
    const prepared = await prepareControls(context, controls, byName, strict, preparing);
    const unread = context.ignoredParts().filter(({ field }) => !field.startsWith('documents['));
    const { owner, prune } = input;
    const wanted: Wanted = { owner, prune, objects, controls: prepared.controls };
    const refused = strict ? mistakeItems(unread, 'Request') : [];
    const wrong = [...refused, ...read.problems, ...problems, ...prepared.problems];
    // What documents name is only known once all of them can be read.
    if (wrong.length > 0 && read.problems.length === 0) {
      wrong.push(...(await readSet(scope, wanted, catalogue)).problems);
      wrong.push(...(await referenceItems(context, scope, prepared.controls, referenceProblems)));
    }
    refuseProblems(wrong);
    if (objects.some((one) => one.family === 'policy' && one.agentLabels.length > 0)) {
      await options.catchUpLabels();
    }
    return { wanted, warnings: listed(unread, prepared.warnings) };
  }

  /** Everything that applying does, by what is stored at a revision. */
  async function drawUp(
    context: HandlerCall,
    scope: Scoped,
    input: ApplyInput,
    wanted: Wanted,
  ): Promise<Draft> {
    // First: what is read later may be newer, and then this is no draft of a later revision.
    const revision = await revisionOf(scope);
    const plan = await planSet(scope, input, await readSet(scope, wanted, catalogue), registry);
    const { set } = plan;
    const changed = new Set(plan.changes.filter(({ change }) => change !== 'unchanged').map(objectKey));
    const written = set.controls.filter(({ desired }) => changed.has(objectKey(desired)));
    const references = await referenceItems(context, scope, written, referenceProblems);
    return { revision, set, plan, problems: [...set.problems, ...plan.problems, ...references] };
  }

  return {
    /**
     * Throws a VALIDATION_ERROR with the problems of all documents, CONFIGURATION_CONFLICT with all conflicts,
     * CONFIGURATION_REVISION_CHANGED, or PAYLOAD_TOO_LARGE for changes that take too long for one transaction.
     */
    async apply(context: HandlerCall, input: ApplyInput) {
      const { owner } = input;
      const { wanted, warnings } = await prepare(context, input);
      // Nothing else can be changed during a transaction: it reads only if something was changed since.
      const draft = await drawUp(context, scopeOf(context, client), input, wanted);
      const limit = createWorkLimit(WORK_LIMIT_MS, () => performance.now());
      const transaction = mutate<Outcome>(context, async (scope) => {
        limit.begin();
        const { demandTime } = limit;
        const next = await revisionOf(scope);
        if (input.revision !== undefined && input.revision !== next - 1) {
          throw revisionChanged(input.revision, next - 1);
        }
        const isCurrent = draft.revision === next - 1;
        const { set, plan, problems } = isCurrent ? draft : await drawUp(context, scope, input, wanted);
        demandTime();
        refuseProblems(problems);
        const kept: Outcome = { plan, revision: next - 1, applied: false };
        if (input.dry_run) return { value: kept, change: null };
        if (plan.conflicts.length > 0) throw configurationConflict(plan.conflicts);
        if (plan.forgotten.length === 0 && plan.changes.every(isKept)) return { value: kept, change: null };
        const nowMs = now();
        const writing = { context, note: input.note ?? `Applied by ${owner}`, nowMs };
        const { change } = await writeSet(scope, set, plan.changes, writing, demandTime);
        await rememberSet(scope, owner, plan, nowMs);
        demandTime();
        const value: Outcome = { plan, revision: next, applied: true };
        return {
          value,
          ...(change === undefined ? {} : { change }),
          audit: appliedFact(owner, input.note, plan),
        };
      });
      const outcome = await transaction.catch((error: unknown) => {
        throw limit.meaningOf(error);
      });
      const { plan, revision, applied } = outcome;
      return {
        changes: shownChanges(plan.changes),
        applied,
        revision,
        conflicts: plan.conflicts.map(shownConflict),
        warnings,
      };
    },
  };
}

interface Outcome {
  readonly plan: SetPlan;
  readonly revision: number;
  readonly applied: boolean;
}

interface Draft {
  readonly revision: number;
  readonly set: ConfigurationSet;
  readonly plan: SetPlan;
  readonly problems: readonly ErrorItem[];
}

/** The last revision; in a transaction, the one that it makes. */
async function revisionOf({ client }: Scoped): Promise<number> {
  const row = await client.serviceState.findUniqueOrThrow({ where: { id: 1 }, select: { revision: true } });
  return Number(row.revision);
}

function isKept({ change, remembers }: PlannedChange): boolean {
  return change === 'unchanged' && !remembers;
}
