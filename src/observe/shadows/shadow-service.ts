import { type JsonObject, stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { CallContext, HandlerCall } from '../../contract/call/handler.js';
import { type AgentKey, nameOfKey } from '../../contract/call/namespace.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import type { Warning } from '../../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { controlFact, controlState } from '../../manage/controls/control-audit.js';
import { proposeControl } from '../../manage/controls/control-proposal.js';
import type { Reviewer } from '../../manage/controls/control-review.js';
import { createControlStore } from '../../manage/controls/control-store.js';
import { type ControlDefinition, isDraft } from '../../manage/controls/definition/definition.js';
import { definitionIndex } from '../../manage/controls/definition-index.js';
import { readStoredDefinition } from '../../manage/controls/definition-presentation.js';
import { demandInstalled } from '../../manage/controls/demand-installed.js';
import {
  changeWarnings,
  controlWithVersion,
  existingControl,
} from '../../manage/controls/existing-control.js';
import { checkReferences, type ReferenceProblems } from '../../manage/controls/reference-problems.js';
import { recordVersion } from '../../manage/controls/version-recording.js';
import { storedState } from '../../storage/database/audit-log.js';
import type { Database } from '../../storage/database/database.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import { draftAsShadow, shadowChanged, shadowNotFound, tooManyShadows } from './shadow-errors.js';
import type { ShadowRegistry } from './shadow-registry.js';
import type { ShadowInputs } from './shadow-schemas.js';
import { createShadowStore, type ShadowRow } from './shadow-store.js';

/** Most controls of a namespace with a shadow: each process keeps all of them in memory, and lists have no pages. */
export const MAX_SHADOWS = 100;

export interface ShadowServiceOptions {
  readonly database: Pick<Database, 'client'>;
  readonly mutate: Mutator;
  readonly evaluators: EvaluatorRegistry;
  readonly reviewer: Reviewer;
  readonly referenceProblems: ReferenceProblems;
  /** The shadows that this process evaluates. */
  readonly registry: Pick<ShadowRegistry, 'refreshed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Sets, reads, promotes and drops shadows. When a change is answered, this process knows it; others do within a second. */
export function createShadowService(options: ShadowServiceOptions) {
  const { database, mutate, evaluators, reviewer, referenceProblems, registry, now } = options;

  async function found(scope: Scoped, controlId: number): Promise<ShadowRow> {
    const row = await createShadowStore(scope).find(controlId);
    if (row === null) throw shadowNotFound(controlId);
    return row;
  }

  async function printed(scope: Scoped, row: ShadowRow) {
    const { name } = await existingControl(scope, row.controlId);
    return printedShadow(row, name, evaluators);
  }

  /** Those of the shadow as the definition of its control. */
  async function warningsOf(context: CallContext, controlId: number): Promise<Warning[]> {
    const { data } = await found(scopeOf(context, database.client), controlId);
    const read = readStoredDefinition(data, evaluators);
    return read.ok ? reviewer.warningsOf(context, database.client, read.stored, controlId) : [];
  }

  return {
    /** Throws CONTROL_NOT_FOUND, or as `setData` of the control. */
    async set(context: HandlerCall, input: ShadowInputs['setShadow']) {
      const { control_id: controlId, data, share, share_by: shareBy, strict } = input;
      const proposal = proposeControl(data, evaluators);
      const review = await reviewer.review(context, database.client, proposal, strict, controlId);
      const { row, name } = await mutate(context, async (scope) => {
        const store = createShadowStore(scope);
        const { row: control, version } = await controlWithVersion(scope, controlId);
        if ((await store.countOthers(controlId)) >= MAX_SHADOWS) throw tooManyShadows(MAX_SHADOWS);
        const proposed = proposal.storedInPlaceOf(control);
        if (isDraft(proposed)) throw draftAsShadow();
        try {
          await checkReferences(referenceProblems, scope, proposed, context.principal.agents);
        } catch (error) {
          throw error instanceof ServiceError ? review.completed(error) : error;
        }
        review.demandAcceptable(control.data);
        const before = await store.find(controlId);
        const { name: author, level } = context.principal;
        const shadow = await store.set({
          controlId,
          data: stringifyJson(proposed),
          share,
          shareBy,
          setAtMs: now(),
          setBy: author ?? level,
          baseVersion: version,
        });
        const states = [before && shadowState(before), shadowState(shadow)] as const;
        const audit = controlFact('control.set_shadow', control, ...states);
        return { value: { row: shadow, name: control.name }, change: { access: true }, audit };
      });
      await registry.refreshed();
      return { shadow: printedShadow(row, name, evaluators), warnings: review.warnings };
    },

    /** Throws SHADOW_NOT_FOUND. */
    async get(context: CallContext, controlId: number) {
      const scope = scopeOf(context, database.client);
      return { shadow: await printed(scope, await found(scope, controlId)) };
    },

    async list(context: CallContext) {
      const scope = scopeOf(context, database.client);
      const rows = await createShadowStore(scope).list();
      const names = await createControlStore(scope).namesOf(rows.map(({ controlId }) => controlId));
      return {
        shadows: rows.flatMap((row) => {
          const name = names.get(row.controlId);
          // It was deleted meanwhile.
          return name === undefined ? [] : [printedShadow(row, name, evaluators)];
        }),
      };
    },

    /** Throws SHADOW_NOT_FOUND, SHADOW_CHANGED, or errors of references. */
    async promote(context: CallContext, input: ShadowInputs['promoteShadow']) {
      const { control_id: controlId, shadow_version: seen } = input;
      const warnings = await warningsOf(context, controlId);
      const promoted = await mutate(context, async (scope) => {
        const shadow = await found(scope, controlId);
        const { row: before, version: current } = await controlWithVersion(scope, controlId);
        const proposed = promotable(shadow, seen, current, evaluators);
        demandInstalled(proposed, evaluators);
        await checkReferences(referenceProblems, scope, proposed, context.principal.agents);
        const written = { data: shadow.data, ...definitionIndex(proposed), updatedAtMs: now() };
        await createControlStore(scope).update(controlId, written);
        await createShadowStore(scope).remove(controlId);
        const after = { ...before, ...written };
        const version = await recordVersion(scope, context, {
          eventType: 'updated',
          note: `Shadow ${shadow.id} promoted`,
          before,
          after,
        });
        const states = [controlState(before, current), controlState(after, version)] as const;
        const audit = controlFact('control.promote_shadow', after, ...states);
        const value = { version, warnings: await changeWarnings(scope, before) };
        return { value, change: { controls: [controlId], access: true }, audit };
      });
      await registry.refreshed();
      return { ...promoted, warnings: [...warnings, ...promoted.warnings] };
    },

    /** Throws SHADOW_NOT_FOUND. */
    async drop(context: CallContext, controlId: number) {
      await mutate(context, async (scope) => {
        const shadow = await found(scope, controlId);
        const control = await existingControl(scope, controlId);
        await createShadowStore(scope).remove(controlId);
        const audit = controlFact('control.drop_shadow', control, shadowState(shadow), null);
        return { value: undefined, change: { access: true }, audit };
      });
      await registry.refreshed();
      return {};
    },
  };
}

/** The definition of a shadow that can take the place of its control. Throws SHADOW_CHANGED. */
function promotable(
  shadow: ShadowRow,
  seen: number,
  current: number,
  evaluators: EvaluatorRegistry,
): ControlDefinition {
  const { controlId } = shadow;
  if (shadow.id !== seen) {
    throw shadowChanged(controlId, `it is the shadow ${shadow.id}, and not ${seen}`);
  }
  if (current !== shadow.baseVersion) {
    const problem = `the control has version ${current}, and had version ${shadow.baseVersion} when the shadow was set`;
    throw shadowChanged(controlId, problem);
  }
  const read = readStoredDefinition(shadow.data, evaluators);
  if (!read.ok || isDraft(read.stored)) {
    throw shadowChanged(controlId, 'its definition is not valid any more');
  }
  return read.stored;
}

/** A shadow as the audit log shows it. */
function shadowState({ id, baseVersion, share, shareBy, data }: ShadowRow): JsonObject {
  return { shadow_version: id, base_version: baseVersion, share, share_by: shareBy, data: storedState(data) };
}

/** A shadow as contained in replies. An unreadable definition is null. */
function printedShadow(row: ShadowRow, controlName: string, evaluators: EvaluatorRegistry) {
  const stored = readStoredDefinition(row.data, evaluators);
  return {
    control_id: row.controlId,
    control_name: controlName,
    shadow_version: row.id,
    data: stored.ok ? stored.definition : null,
    share: row.share,
    share_by: row.shareBy,
    set_at: new Date(row.setAtMs).toISOString(),
    set_by: row.setBy,
    base_version: row.baseVersion,
    both_matched: row.bothMatched,
    neither_matched: row.neitherMatched,
    only_live_matched: row.onlyLiveMatched,
    only_shadow_matched: row.onlyShadowMatched,
    live_failed: row.liveFailed,
    shadow_failed: row.shadowFailed,
    left_out: row.leftOut,
    differences: row.differences.map((one) => ({
      decision_id: one.decisionId,
      agent_name: nameOfKey(one.agentName as AgentKey),
      step_type: one.stepType,
      step_name: one.stepName,
      stage: one.stage,
      shadow_matched: one.shadowMatched,
      message: one.message,
      at: new Date(one.atMs).toISOString(),
    })),
  };
}
