import type { HandlerCall } from '../contract/call/handler.js';
import { ServiceError } from '../contract/errors/service-error.js';
import { listed, mistakeItems } from '../contract/warnings/warning.js';
import { objectKey } from '../controls/applied-object.js';
import type { Reviewer } from '../controls/control-review.js';
import type { ReferenceProblems } from '../controls/reference-problems.js';
import type { EvaluatorRegistry } from '../core/evaluator.js';
import type { Database } from '../database/database.js';
import type { Mutator } from '../database/mutator.js';
import { type Scoped, scopeOf } from '../database/scoped.js';
import type { PackCatalogue } from '../packs/catalogue.js';
import type { DesiredControl } from './configuration-object.js';
import type { PlannedChange } from './configuration-plan.js';
import {
  configurationConflict,
  objectsOf,
  refuseProblems,
  revisionChanged,
  shownConflict,
  tooMuchWork,
} from './configuration-problems.js';
import type { ApplyInput } from './configuration-schemas.js';
import { type ConfigurationSet, readSet, type Wanted } from './configuration-set.js';
import { createConfigurationState } from './configuration-state.js';
import { createDocumentReader } from './document-reading.js';
import { prepareControls, referenceItems } from './prepared-controls.js';
import { planSet, type SetPlan } from './set-plan.js';
import { appliedFact, shownChanges } from './set-reply.js';
import { rememberSet, writeSet } from './set-writing.js';

/** Longest work in one transaction, in milliseconds: less than a mutation may take, so that there is a clear answer. */
const WORK_LIMIT_MS = 5_000;

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

  /** The plan of a set, in its transaction. Throws a VALIDATION_ERROR with all problems that depend on what is stored. */
  async function planned(context: HandlerCall, scope: Scoped, input: ApplyInput, set: ConfigurationSet) {
    const plan = await planSet(scope, input, set, registry);
    const changed = new Set(plan.changes.filter(({ change }) => change !== 'unchanged').map(objectKey));
    const written = set.controls.filter(({ desired }) => changed.has(objectKey(desired)));
    const references = await referenceItems(context, scope, written, referenceProblems);
    refuseProblems([...set.problems, ...plan.problems, ...references]);
    return plan;
  }

  return {
    /**
     * Throws a VALIDATION_ERROR with the problems of all documents, CONFIGURATION_CONFLICT with all conflicts,
     * CONFIGURATION_REVISION_CHANGED, or PAYLOAD_TOO_LARGE for changes that take too long for one transaction.
     */
    async apply(context: HandlerCall, input: ApplyInput) {
      const { owner } = input;
      const { wanted, warnings } = await prepare(context, input);
      let limit: TimeLimit | undefined;
      const transaction = mutate<Outcome>(context, async (scope) => {
        limit = createTimeLimit();
        const { demandTime } = limit;
        const next = await nextRevision(scope);
        if (input.revision !== undefined && input.revision !== next - 1) {
          throw revisionChanged(input.revision, next - 1);
        }
        const set = await readSet(scope, wanted, catalogue);
        demandTime();
        const plan = await planned(context, scope, input, set);
        demandTime();
        const kept: Outcome = { plan, revision: next - 1, applied: false };
        if (input.dry_run) return { value: kept, change: null };
        if (plan.conflicts.length > 0) throw configurationConflict(plan.conflicts);
        if (plan.forgotten.length === 0 && plan.changes.every(isKept)) return { value: kept, change: null };
        const nowMs = now();
        const writing = { context, registry, note: input.note ?? `Applied by ${owner}`, nowMs };
        const change = await writeSet(scope, set, plan, writing, demandTime);
        await rememberSet(scope, owner, plan, nowMs);
        demandTime();
        const value: Outcome = { plan, revision: next, applied: true };
        return {
          value,
          ...(change === undefined ? {} : { change }),
          audit: appliedFact(owner, input.note, plan),
        };
      });
      // A single statement may take longer than all of them may: the database or the transaction ends it.
      const outcome = await transaction.catch((error: unknown) => {
        const isLate = limit?.isOver() === true && error instanceof ServiceError;
        throw isLate && error.code === 'SERVICE_UNAVAILABLE' ? tooMuchWork(WORK_LIMIT_MS / 1000) : error;
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

/** The revision that this transaction makes. */
async function nextRevision({ client }: Scoped): Promise<number> {
  const row = await client.serviceState.findUniqueOrThrow({ where: { id: 1 }, select: { revision: true } });
  return Number(row.revision);
}

interface TimeLimit {
  readonly isOver: () => boolean;
  /** Throws PAYLOAD_TOO_LARGE once it is over. */
  readonly demandTime: () => void;
}

/** For the work since this call. */
function createTimeLimit(): TimeLimit {
  const began = performance.now();
  const isOver = () => performance.now() - began > WORK_LIMIT_MS;
  return {
    isOver,
    demandTime: () => {
      if (isOver()) throw tooMuchWork(WORK_LIMIT_MS / 1000);
    },
  };
}

function isKept({ change, remembers }: PlannedChange): boolean {
  return change === 'unchanged' && !remembers;
}
