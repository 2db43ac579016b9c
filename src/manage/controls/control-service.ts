import { stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { CallContext, HandlerCall } from '../../contract/call/handler.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import type { Warning } from '../../contract/warnings/warning.js';
import { isRowId } from '../../storage/database/row-id.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import { controlFact, controlState } from './control-audit.js';
import type { ControlData } from './control-data.js';
import { controlNameConflict } from './control-errors.js';
import { type ControlProposal, proposeControl } from './control-proposal.js';
import { type ControlReadingOptions, createControlReading } from './control-reading.js';
import { createControlRemoval } from './control-removal.js';
import type { Review } from './control-review.js';
import { type ControlRow, createControlStore } from './control-store.js';
import { type ControlUpdateOptions, createControlUpdate, type WriteOptions } from './control-update.js';
import { isDraft, type StoredControl } from './definition/definition.js';
import { definitionIndex } from './definition-index.js';
import { changeWarnings, demandedControl } from './existing-control.js';
import { checkReferences, type ReferenceProblems } from './reference-problems.js';
import { recordVersion } from './version-recording.js';

export interface ControlServiceOptions extends ControlReadingOptions, ControlUpdateOptions {
  readonly referenceProblems: ReferenceProblems;
}

/** Proposed data and their review. */
interface Reviewed {
  readonly proposal: ControlProposal;
  readonly review: Review;
}

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
    ...createControlUpdate(options),
    ...createControlRemoval(options),

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
  };
}
