import type { CallContext } from '../../contract/call/handler.js';
import type { Namespace, TargetName } from '../../contract/call/namespace.js';
import { paginationOf } from '../../contract/call/page.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Database } from '../../storage/database/database.js';
import type { MutationOutcome, Mutator } from '../../storage/database/mutator.js';
import { isRowId } from '../../storage/database/row-id.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import { bindingFact, demandBindable, targetKeyOf } from '../controls/bindings.js';
import { type BindingRow, createControlBindingStore } from '../controls/control-binding-store.js';
import { existingControl } from '../controls/existing-control.js';
import { badCursor, bindingConflict, bindingNotFound, notBound } from './binding-errors.js';
import type { BindingInputs } from './binding-schemas.js';

export interface BindingServiceOptions {
  readonly database: Pick<Database, 'client'>;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Binds controls to targets. */
export function createBindingService({ database, mutate, registry, now }: BindingServiceOptions) {
  const target = (input: BindingInputs['deleteControlBindingByKey']): TargetName => ({
    type: input.target_type,
    id: input.target_id,
  });

  /** Binds a control that is not bound to the target yet. Throws CONTROL_NOT_FOUND or CONTROL_BINDING_INCOMPATIBLE. */
  async function bind(scope: Scoped, input: BindingInputs['createControlBinding']) {
    demandBindable(await existingControl(scope, input.control_id), registry);
    const { control_id: controlId, enabled } = input;
    return createControlBindingStore(scope).insert(target(input), controlId, enabled, now());
  }

  /** Sets whether a binding has an effect; `value` is the result. */
  async function enable<T>(
    scope: Scoped,
    row: BindingRow,
    enabled: boolean,
    value: T,
  ): Promise<MutationOutcome<T>> {
    if (row.enabled === enabled) return { value, change: null };
    await createControlBindingStore(scope).setEnabled(row.id, enabled, now());
    const change = { targets: [targetKeyOf(scope, row)] };
    return { value, change, audit: bindingFact(row, { ...row, enabled }) };
  }

  async function unbind<T>(scope: Scoped, row: BindingRow, value: T): Promise<MutationOutcome<T>> {
    await createControlBindingStore(scope).remove(row.id);
    return { value, change: changeOf(scope, row), audit: bindingFact(row, null) };
  }

  return {
    /** Throws CONTROL_NOT_FOUND, CONTROL_BINDING_CONFLICT or CONTROL_BINDING_INCOMPATIBLE. */
    create: (context: CallContext, input: BindingInputs['createControlBinding']) =>
      mutate(context, async (scope) => {
        await existingControl(scope, input.control_id);
        const found = await createControlBindingStore(scope).findByKey(target(input), input.control_id);
        if (found !== null) throw bindingConflict(input.control_id);
        const row = await bind(scope, input);
        return { value: { binding_id: row.id }, change: changeOf(scope, row), audit: bindingFact(null, row) };
      }),

    /** One page. Throws a VALIDATION_ERROR for a cursor that is none. */
    async list(context: CallContext, input: BindingInputs['listControlBindings']) {
      const scope = scopeOf(context, database.client);
      const page = await createControlBindingStore(scope).list({
        cursor: readCursor(input.cursor),
        limit: input.limit,
        targetType: input.target_type ?? null,
        targetId: input.target_id ?? null,
        controlId: input.control_id ?? null,
      });
      return {
        bindings: page.rows.map((row) => printed(row, scope.namespace)),
        pagination: paginationOf(page, input.limit),
      };
    },

    /** Throws CONTROL_BINDING_NOT_FOUND. */
    async get(context: CallContext, bindingId: number) {
      const scope = scopeOf(context, database.client);
      return printed(await existing(scope, bindingId), scope.namespace);
    },

    /** Throws CONTROL_BINDING_NOT_FOUND. */
    update: (context: CallContext, bindingId: number, enabled: boolean) =>
      mutate(context, async (scope) =>
        enable(scope, await existing(scope, bindingId), enabled, { success: true, enabled }),
      ),

    /** Throws CONTROL_BINDING_NOT_FOUND. */
    remove: (context: CallContext, bindingId: number) =>
      mutate(context, async (scope) => unbind(scope, await existing(scope, bindingId), { success: true })),

    /** Throws CONTROL_NOT_FOUND or CONTROL_BINDING_INCOMPATIBLE; a binding that is there is checked again. */
    upsert: (context: CallContext, input: BindingInputs['upsertControlBinding']) =>
      mutate(context, async (scope) => {
        const { control_id: controlId, enabled } = input;
        demandBindable(await existingControl(scope, controlId), registry);
        const found = await createControlBindingStore(scope).findByKey(target(input), controlId);
        if (found !== null) {
          const value = { binding_id: found.id, created: false, enabled };
          return enable(scope, found, enabled, value);
        }
        const row = await bind(scope, input);
        const value = { binding_id: row.id, created: true, enabled };
        return { value, change: changeOf(scope, row), audit: bindingFact(null, row) };
      }),

    /** Throws CONTROL_BINDING_NOT_FOUND: it never binds. */
    updateByKey: (context: CallContext, input: BindingInputs['updateControlBindingByKey']) =>
      mutate(context, async (scope) => {
        const found = await createControlBindingStore(scope).findByKey(target(input), input.control_id);
        if (found === null) throw notBound(input.control_id);
        return enable(scope, found, input.enabled, { success: true, enabled: input.enabled });
      }),

    removeByKey: (context: CallContext, input: BindingInputs['deleteControlBindingByKey']) =>
      mutate(context, async (scope) => {
        const found = await createControlBindingStore(scope).findByKey(target(input), input.control_id);
        if (found === null) return { value: { deleted: false }, change: null };
        return unbind(scope, found, { deleted: true });
      }),
  };
}

async function existing(scope: Scoped, bindingId: number): Promise<BindingRow> {
  const row = await createControlBindingStore(scope).find(bindingId);
  if (row === null) throw bindingNotFound(bindingId);
  return row;
}

/** A disabled binding changes no verdict, neither when it is made nor when it is removed. */
function changeOf(scope: Scoped, row: BindingRow) {
  return row.enabled ? { targets: [targetKeyOf(scope, row)] } : {};
}

function readCursor(cursor: string | null): number | null {
  if (cursor === null || cursor === '') return null;
  const id = /^\d{1,10}$/.test(cursor) ? Number(cursor) : Number.NaN;
  if (!isRowId(id)) throw badCursor(cursor);
  return id;
}

function printed(row: BindingRow, namespace: Namespace) {
  return {
    id: row.id,
    namespace_key: namespace.name,
    target_type: row.targetType,
    target_id: row.targetId,
    control_id: row.controlId,
    enabled: row.enabled,
    created_at: new Date(row.createdAtMs).toISOString(),
    updated_at: new Date(row.updatedAtMs).toISOString(),
  };
}
