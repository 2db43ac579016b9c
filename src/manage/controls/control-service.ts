import { type JsonObject, stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { CallContext, HandlerCall } from '../../contract/call/handler.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import type { IfVersion } from '../../contract/input/if-version.js';
import type { Warning } from '../../contract/warnings/warning.js';
import { createAgentControlStore } from '../../decide/agent-state/agent-control-store.js';
import { namedAgents } from '../../storage/database/audit-log.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { isRowId } from '../../storage/database/row-id.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import { controlFact, controlState } from './control-audit.js';
import { createControlBindingStore } from './control-binding-store.js';
import type { ControlData } from './control-data.js';
import {
  CORRUPTED_ITEM,
  controlCorrupted,
  controlInUse,
  controlNameConflict,
  draftCannotBeEnabled,
} from './control-errors.js';
import { type ControlPatch, changeNote, withEnabled } from './control-patch.js';
import { type ControlProposal, proposeControl } from './control-proposal.js';
import { type ControlReadingOptions, createControlReading } from './control-reading.js';
import type { Review, Reviewer } from './control-review.js';
import { type ControlRow, createControlStore } from './control-store.js';
import { isDraft, type StoredControl } from './definition/definition.js';
import { definitionIndex } from './definition-index.js';
import { readStoredDefinition } from './definition-presentation.js';
import { changeWarnings, demandedControl } from './existing-control.js';
import { effectWarnings } from './link-warnings.js';
import { patchWarnings } from './patch-warnings.js';
import { createPolicyControlStore } from './policy-control-store.js';
import { checkReferences, type ReferenceProblems } from './reference-problems.js';
import { recordVersion } from './version-recording.js';

export interface ControlServiceOptions extends ControlReadingOptions {
  readonly mutate: Mutator;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly referenceProblems: ReferenceProblems;
  readonly reviewer: Reviewer;
}

/** Conditions under which a control is written. */
export interface WriteOptions {
  /** Whether warnings about the request are errors. */
  readonly strict: boolean;
  readonly ifVersion: IfVersion;
}

/** Proposed data and their review. */
interface Reviewed {
  readonly proposal: ControlProposal;
  readonly review: Review;
}

/** Ids of bindings that one entry of the audit log lists. */
const MAX_AUDITED_BINDINGS = 1_000;

export type ControlService = ReturnType<typeof createControlService>;

/** Creates, reads, changes and deletes controls. Definitions are validated before. */
export function createControlService(options: ControlServiceOptions) {
  const { database, mutate, registry, now, referenceProblems, reviewer } = options;
  const columns = (control: StoredControl) => ({
    data: stringifyJson(control),
    ...definitionIndex(control),
    updatedAtMs: now(),
  });
  /** The control to store in place of a row, after all checks. */
  const accepted = async (
    context: CallContext,
    scope: Scoped,
    { proposal, review }: Reviewed,
    row: ControlRow | null,
    stored: string | null = row?.data ?? null,
  ) => {
    const control = proposal.storedInPlaceOf(row);
    const { agents } = context.principal;
    try {
      if (!isDraft(control)) await checkReferences(referenceProblems, scope, control, agents);
    } catch (error) {
      throw error instanceof ServiceError ? review.completed(error) : error;
    }
    review.demandAcceptable(stored);
    return control;
  };

  return {
    ...createControlReading(options),

    /**
     * Throws CONTROL_NAME_CONFLICT, errors of a template or of references, or a VALIDATION_ERROR for
     * data rejected by `strict`.
     */
    async create(context: HandlerCall, name: string, data: ControlData, strict: boolean) {
      const proposal = proposeControl(data, registry);
      const review = await reviewer.review(context, database.client, proposal, strict);
      const created = await mutate(context, async (scope) => {
        const store = createControlStore(scope);
        if ((await store.findByName(name)) !== null) throw controlNameConflict(name);
        const control = await accepted(context, scope, { proposal, review }, null);
        const row = await store.insert({ name, clonedFromId: null, createdAtMs: now(), ...columns(control) });
        const change = { eventType: 'created', note: 'Created', before: null, after: row } as const;
        const version = await recordVersion(scope, context, change);
        const audit = controlFact('control.create', row, null, controlState(row, version));
        // A new control has no links, so no program is invalidated.
        return { value: { control_id: row.id, version }, change: {}, audit };
      });
      return { ...created, warnings: review.warnings };
    },

    /** Warnings about data that are not stored. Throws like `create`. */
    async validate(
      context: HandlerCall,
      data: ControlData,
      strict: boolean,
      controlId?: number,
    ): Promise<{ success: true; warnings: Warning[] }> {
      const proposal = proposeControl(data, registry);
      const review = await reviewer.review(context, database.client, proposal, strict, controlId);
      const scope = scopeOf(context, database.client);
      const known = controlId !== undefined && isRowId(controlId);
      const row = known ? await createControlStore(scope).find(controlId) : null;
      await accepted(context, scope, { proposal, review }, null, row?.data ?? null);
      return { success: true, warnings: review.warnings };
    },

    /**
     * Throws CONTROL_NOT_FOUND, CONTROL_TEMPLATE_CONFLICT, errors of a template or of references, or a
     * VALIDATION_ERROR for data rejected by `strict`.
     */
    async setData(
      context: HandlerCall,
      controlId: number,
      data: ControlData,
      { strict, ifVersion }: WriteOptions,
    ) {
      const proposal = proposeControl(data, registry);
      const review = await reviewer.review(context, database.client, proposal, strict, controlId);
      const { version, applied } = await mutate(context, async (scope) => {
        const { row, version: before } = await demandedControl(scope, controlId, ifVersion);
        const changed = await accepted(context, scope, { proposal, review }, row);
        const written = columns(changed);
        await createControlStore(scope).update(controlId, written);
        const after = { ...row, ...written };
        const number = await recordVersion(scope, context, {
          eventType: 'updated',
          note: 'Definition replaced',
          before: row,
          after,
        });
        const states = [controlState(row, before), controlState(after, number)] as const;
        const audit = controlFact('control.set_data', after, ...states);
        const value = { version: number, applied: await changeWarnings(scope, row) };
        return { value, change: { controls: [controlId] }, audit };
      });
      return { success: true, warnings: [...review.warnings, ...applied], version };
    },

    /**
     * Throws CONTROL_NOT_FOUND, CONTROL_NAME_CONFLICT, CORRUPTED_DATA, or a VALIDATION_ERROR for enabling a
     * draft, for a request whose members all have no effect, or when `strict` rejects those; then nothing was
     * changed.
     */
    async update(
      context: HandlerCall,
      controlId: number,
      change: ControlPatch,
      { strict, ifVersion }: WriteOptions,
    ) {
      const warnings = patchWarnings(context.ignoredParts(), controlId, change);
      reviewer.demandEffect(warnings, strict);
      return mutate(context, async (scope) => {
        const { row, version: before } = await demandedControl(scope, controlId, ifVersion);
        const renamed = change.name !== undefined && change.name !== row.name;
        if (renamed && (await createControlStore(scope).findByName(change.name ?? '')) !== null) {
          throw controlNameConflict(change.name ?? '');
        }
        const stored = readStoredDefinition(row.data, registry);
        const readable = stored.ok;
        if (change.enabled !== undefined && !readable) {
          const detail = `The stored definition of control ${row.id} cannot be read.`;
          throw controlCorrupted(detail, [CORRUPTED_ITEM], String(row.id));
        }
        if (change.enabled === true && stored.ok && isDraft(stored.stored))
          throw draftCannotBeEnabled(row.id);
        const switched = change.enabled !== undefined && change.enabled !== row.enabled;
        const ofEffect = change.enabled === true && stored.ok ? effectWarnings(stored.stored, registry) : [];
        const reply = (version: number, applied: readonly Warning[]) => ({
          success: true,
          name: change.name ?? row.name,
          enabled: readable ? (change.enabled ?? row.enabled) : null,
          warnings: [...warnings, ...ofEffect, ...applied],
          version,
        });
        if (!renamed && !switched) return { value: reply(before, []), change: null };
        const written = {
          updatedAtMs: now(),
          ...(renamed ? { name: change.name ?? '' } : {}),
          ...(switched ? { data: withEnabled(row.data, !row.enabled), enabled: !row.enabled } : {}),
        };
        await createControlStore(scope).update(controlId, written);
        const note = changeNote(renamed, switched ? !row.enabled : null);
        const after = { ...row, ...written };
        const version = await recordVersion(scope, context, {
          eventType: 'updated',
          note,
          before: row,
          after,
        });
        const states = [controlState(row, before), controlState(after, version)] as const;
        const audit = controlFact('control.update', after, ...states);
        // The name is part of every verdict, so a new one must reach the snapshot too.
        const value = reply(version, await changeWarnings(scope, row));
        return { value, change: { controls: [controlId] }, audit };
      });
    },

    /** Throws CONTROL_NOT_FOUND, or CONTROL_IN_USE if it is linked, in a policy or bound and `force` is not set. */
    async remove(context: CallContext, controlId: number, force: boolean, ifVersion: IfVersion) {
      const { reply, warnings } = await mutate(context, async (scope) => {
        const { row, version } = await demandedControl(scope, controlId, ifVersion);
        const agentNames = await createAgentControlStore(scope).agentsOf(controlId);
        const policyIds = await createPolicyControlStore(scope).policyIdsOf(controlId);
        const bindingIds = await createControlBindingStore(scope).idsOf(controlId);
        const inUse = agentNames.length > 0 || policyIds.length > 0 || bindingIds.length > 0;
        if (inUse && !force) throw controlInUse(row.name, policyIds, agentNames, bindingIds);
        const after = { ...row, updatedAtMs: now() };
        await createPolicyControlStore(scope).touch(policyIds, after.updatedAtMs);
        await createControlBindingStore(scope).removeOf(controlId);
        await createControlStore(scope).remove(controlId, after.updatedAtMs);
        await recordVersion(scope, context, { eventType: 'deleted', note: 'Deleted', before: row, after });
        const reply = {
          success: true,
          dissociated_from: policyIds,
          dissociated_from_policies: policyIds,
          dissociated_from_agents: agentNames,
          detached_target_bindings: bindingIds,
        };
        const users = { policy_ids: policyIds, ...namedAgents(agentNames), ...boundBy(bindingIds) };
        const before = { ...controlState(row, version), ...users };
        const audit = controlFact('control.delete', row, before, null);
        const value = { reply, warnings: await changeWarnings(scope, row) };
        // Agents that had it, by a link, a policy or a target, have it in their programs.
        return { value, change: { controls: [controlId] }, audit };
      });
      context.warn(warnings);
      return reply;
    },
  };
}

/** The bindings of a control, as the audit log shows them: at most as many as are worth their room. */
function boundBy(bindingIds: readonly number[]): JsonObject {
  if (bindingIds.length === 0) return {};
  return { bindings: bindingIds.length, binding_ids: bindingIds.slice(0, MAX_AUDITED_BINDINGS) };
}
