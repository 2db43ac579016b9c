import type { Database, DbClient } from '../database/database.js';
import type { Mutator } from '../database/mutator.js';
import type { EvaluatorRegistry } from '../evaluators/types.js';
import type { JsonObject } from '../json/json-value.js';
import { parseStoredJson } from '../json/parse-json.js';
import { stringifyJson } from '../json/stringify-json.js';
import type { CallContext } from '../rpc/handler.js';
import { createAgentControlStore } from './agent-control-store.js';
import {
  CORRUPTED_ITEM,
  controlCorrupted,
  controlInUse,
  controlNameConflict,
  controlNotFound,
} from './control-errors.js';
import { type ControlFilters, type ControlRow, createControlStore } from './control-store.js';
import { summariseControl } from './control-summary.js';
import type { ControlDefinition } from './definition.js';
import { definitionIndex } from './definition-index.js';
import { type PresentedDefinition, readStoredDefinition } from './definition-presentation.js';
import { definitionWarnings, type Warning } from './definition-warnings.js';

/** Largest id a control can have: ids are 32-bit in storage. */
const MAX_CONTROL_ID = 2 ** 31 - 1;

export interface ControlServiceOptions {
  readonly database: Database;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export type ControlService = ReturnType<typeof createControlService>;

/** Creates, reads, changes and deletes controls. Definitions are validated before they get here. */
export function createControlService({ database, mutate, registry, now }: ControlServiceOptions) {
  const columns = (definition: ControlDefinition) => ({
    data: stringifyJson(definition as unknown as JsonObject),
    ...definitionIndex(definition),
    updatedAtMs: now(),
  });

  return {
    /** Throws CONTROL_NAME_CONFLICT. */
    async create(context: CallContext, name: string, definition: ControlDefinition) {
      const controlId = await mutate(context, async (tx) => {
        const store = createControlStore(tx);
        if ((await store.findByName(name)) !== null) throw controlNameConflict(name);
        const row = await store.insert({ name, createdAtMs: now(), ...columns(definition) });
        // Nothing is linked to a new control, so no agent has to be told.
        return { value: row.id, change: {} };
      });
      return { control_id: controlId, warnings: definitionWarnings(definition, registry) };
    },

    /** What a caller should know about a definition that is not stored. */
    validate(definition: ControlDefinition): { success: true; warnings: Warning[] } {
      return { success: true, warnings: definitionWarnings(definition, registry) };
    },

    /** Throws CONTROL_NOT_FOUND. A definition that cannot be read is null. */
    async get(controlId: number) {
      const row = await existing(database.client, controlId);
      const stored = readStoredDefinition(row.data, registry);
      return { id: row.id, name: row.name, data: stored.ok ? stored.definition : null };
    },

    /** Throws CONTROL_NOT_FOUND, or CORRUPTED_DATA when the definition cannot be read. */
    async getData(controlId: number): Promise<{ data: PresentedDefinition }> {
      const row = await existing(database.client, controlId);
      const stored = readStoredDefinition(row.data, registry);
      if (stored.ok) return { data: stored.definition };
      throw controlCorrupted(`The stored definition of control ${row.id} cannot be read.`, stored.items);
    },

    /** One page of controls, newest id first. */
    async list(filters: ControlFilters) {
      const page = await createControlStore(database.client).list(filters);
      const ids = page.rows.map((row) => row.id);
      const usage = await createAgentControlStore(database.client).usage(ids);
      const last = page.rows.at(-1);
      return {
        controls: page.rows.map((row) => summariseControl(row, usage.get(row.id), registry)),
        pagination: {
          limit: filters.limit,
          total: page.total,
          next_cursor: page.hasMore && last !== undefined ? String(last.id) : null,
          has_more: page.hasMore,
        },
      };
    },

    /** Throws CONTROL_NOT_FOUND. */
    async setData(context: CallContext, controlId: number, definition: ControlDefinition) {
      await mutate(context, async (tx) => {
        await existing(tx, controlId);
        await createControlStore(tx).update(controlId, columns(definition));
        return { value: undefined, change: { controls: [controlId] } };
      });
      return { success: true, warnings: definitionWarnings(definition, registry) };
    },

    /** Throws CONTROL_NOT_FOUND, CONTROL_NAME_CONFLICT or CORRUPTED_DATA; then nothing was changed. */
    async update(context: CallContext, controlId: number, change: { name?: string; enabled?: boolean }) {
      return mutate(context, async (tx) => {
        const row = await existing(tx, controlId);
        const renamed = change.name !== undefined && change.name !== row.name;
        if (renamed && (await createControlStore(tx).findByName(change.name ?? '')) !== null) {
          throw controlNameConflict(change.name ?? '');
        }
        const readable = readStoredDefinition(row.data, registry).ok;
        if (change.enabled !== undefined && !readable) {
          const detail = `The stored definition of control ${row.id} cannot be read.`;
          throw controlCorrupted(detail, [CORRUPTED_ITEM], String(row.id));
        }
        const switched = change.enabled !== undefined && change.enabled !== row.enabled;
        if (renamed || switched) {
          await createControlStore(tx).update(controlId, {
            updatedAtMs: now(),
            ...(renamed ? { name: change.name ?? '' } : {}),
            ...(switched ? { data: withEnabled(row.data, !row.enabled), enabled: !row.enabled } : {}),
          });
        }
        const value = {
          success: true,
          name: change.name ?? row.name,
          enabled: readable ? (change.enabled ?? row.enabled) : null,
        };
        // The name is part of every verdict, so a new one has to reach the snapshot too.
        return { value, change: renamed || switched ? { controls: [controlId] } : null };
      });
    },

    /** Throws CONTROL_NOT_FOUND, or CONTROL_IN_USE while it is linked and `force` is not set. */
    async remove(context: CallContext, controlId: number, force: boolean) {
      return mutate(context, async (tx) => {
        const row = await existing(tx, controlId);
        const links = createAgentControlStore(tx);
        const agentNames = await links.agentsOf(controlId);
        if (agentNames.length > 0 && !force) throw controlInUse(row.name, agentNames);
        await links.removeAll(controlId);
        await createControlStore(tx).remove(controlId);
        const value = {
          success: true,
          dissociated_from: [],
          dissociated_from_policies: [],
          dissociated_from_agents: agentNames,
        };
        return { value, change: { controls: [controlId], agents: agentNames } };
      });
    },
  };
}

/** Whether a number can be the id of a control. */
export function isControlId(controlId: number): boolean {
  return controlId >= 1 && controlId <= MAX_CONTROL_ID;
}

/** The row of a control. Throws CONTROL_NOT_FOUND. */
export async function existing(client: DbClient, controlId: number): Promise<ControlRow> {
  const row = isControlId(controlId) ? await createControlStore(client).find(controlId) : null;
  if (row === null) throw controlNotFound(controlId);
  return row;
}

/** Stored text with another `enabled`; members the service does not know survive. */
function withEnabled(data: string, enabled: boolean): string {
  return stringifyJson({ ...(parseStoredJson(data) as JsonObject), enabled });
}
