import type { CallContext } from '../../contract/call/handler.js';
import { paginationOf } from '../../contract/call/page.js';
import { createAgentControlStore } from '../../decide/agent-state/agent-control-store.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Database } from '../../storage/database/database.js';
import { scopeOf } from '../../storage/database/scoped.js';
import { ownersOf } from './applied-warnings.js';
import { type AttachmentFilters, attachmentsOf } from './control-attachments.js';
import { CORRUPTED_ITEM, controlCorrupted } from './control-errors.js';
import { type ControlFilters, createControlStore } from './control-store.js';
import { summariseControl } from './control-summary.js';
import { type PresentedControl, readStoredDefinition } from './definition-presentation.js';
import { controlWithVersion } from './existing-control.js';

export interface ControlReadingOptions {
  readonly database: Database;
  readonly registry: EvaluatorRegistry;
}

/** Shows and lists controls. */
export function createControlReading({ database, registry }: ControlReadingOptions) {
  return {
    /** Throws CONTROL_NOT_FOUND. An unreadable definition is null. */
    async get(context: CallContext, controlId: number) {
      const scope = scopeOf(context, database.client);
      const { row, version } = await controlWithVersion(scope, controlId);
      const owners = await ownersOf(scope, 'control', [row.name]);
      const stored = readStoredDefinition(row.data, registry);
      const data = stored.ok ? stored.definition : null;
      const action = data !== null && 'action' in data ? data.action : null;
      const { id, name, clonedFromId } = row;
      return {
        id,
        name,
        data,
        action,
        attachments: null,
        cloned_from_control_id: clonedFromId,
        version,
        owner: owners.get(name) ?? null,
      };
    },

    /** Throws CONTROL_NOT_FOUND, or CORRUPTED_DATA when the definition is unreadable. */
    async getData(
      context: CallContext,
      controlId: number,
    ): Promise<{ data: PresentedControl; version: number }> {
      const { row, version } = await controlWithVersion(scopeOf(context, database.client), controlId);
      const stored = readStoredDefinition(row.data, registry);
      if (stored.ok) return { data: stored.definition, version };
      const detail = `The stored definition of control ${row.id} cannot be read.`;
      if (stored.draft) throw controlCorrupted(detail, [CORRUPTED_ITEM], String(row.id));
      throw controlCorrupted(detail, stored.items);
    },

    /** One page of controls, with what they are attached to if that is asked for. */
    async list(context: CallContext, filters: ControlFilters, attached: AttachmentFilters | null) {
      const scope = scopeOf(context, database.client);
      const store = createControlStore(scope);
      const page = await store.list(filters);
      const ids = page.rows.map((row) => row.id);
      const activity = await store.activity(ids);
      const usage = await createAgentControlStore(scope).usage(ids);
      const attachments = attached === null ? null : await attachmentsOf(scope, ids, attached);
      const owners = await ownersOf(
        scope,
        'control',
        page.rows.map(({ name }) => name),
      );
      return {
        controls: page.rows.map((row) =>
          summariseControl(
            row,
            usage.get(row.id),
            activity.get(row.id),
            attachments?.get(row.id) ?? null,
            owners.get(row.name) ?? null,
            registry,
          ),
        ),
        pagination: paginationOf(page, filters.limit),
      };
    },
  };
}
