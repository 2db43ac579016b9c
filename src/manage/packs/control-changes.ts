import type { CallContext } from '../../contract/call/handler.js';
import { createAgentControlStore } from '../../decide/agent-state/agent-control-store.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { createControlBindingStore } from '../controls/control-binding-store.js';
import { type ControlRow, createControlStore } from '../controls/control-store.js';
import type { StoredControl } from '../controls/definition/definition.js';
import { definitionIndex } from '../controls/definition-index.js';
import { createPolicyControlStore } from '../controls/policy-control-store.js';
import { recordVersion } from '../controls/version-recording.js';
import { controlNamesTaken } from './pack-errors.js';

/** A definition and the text by which it is stored. */
export interface WrittenDefinition {
  readonly text: string;
  readonly control: StoredControl;
}

/** Why a control is written, for its history. */
export interface ChangeOrigin {
  readonly context: CallContext;
  readonly note: string;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Writes controls of installations, each with its version, in the transaction of a mutation. */
export function createControlChanges(scope: Scoped, { context, note, nowMs }: ChangeOrigin) {
  const controls = createControlStore(scope);
  const members = createPolicyControlStore(scope);
  const columns = ({ text, control }: WrittenDefinition) => ({
    data: text,
    ...definitionIndex(control),
    updatedAtMs: nowMs,
  });

  return {
    /** Throws CONTROL_NAME_CONFLICT with all names that are taken. */
    async demandFree(names: readonly string[]): Promise<void> {
      const taken: string[] = [];
      for (const name of names) if ((await controls.findByName(name)) !== null) taken.push(name);
      if (taken.length > 0) throw controlNamesTaken(taken);
    },

    /** The name, or the first of it with a number that is free. */
    async freeName(name: string): Promise<string> {
      for (let number = 1; ; number += 1) {
        const candidate = number === 1 ? name : `${name}-${number}`;
        if ((await controls.findByName(candidate)) === null) return candidate;
      }
    },

    /** Creates a control in a policy. The name must be free. */
    async create(policyId: number, name: string, definition: WrittenDefinition): Promise<ControlRow> {
      const row = await controls.insert({
        name,
        clonedFromId: null,
        createdAtMs: nowMs,
        ...columns(definition),
      });
      await recordVersion(scope, context, { eventType: 'created', note, before: null, after: row });
      await members.add(policyId, row.id);
      return row;
    },

    /** Gives a control another definition. */
    async write(controlId: number, definition: WrittenDefinition): Promise<void> {
      const row = await controls.find(controlId);
      if (row === null) throw new Error(`control ${controlId} of an installation does not exist`);
      const written = columns(definition);
      await controls.update(controlId, written);
      const after = { ...row, ...written };
      await recordVersion(scope, context, { eventType: 'updated', note, before: row, after });
    },

    /** Takes a control out of the policy. Deletes it if nothing else uses it and `mayDelete`; returns whether it did. */
    async remove(policyId: number, controlId: number, mayDelete: boolean): Promise<boolean> {
      await members.remove(policyId, controlId);
      const row = await controls.find(controlId);
      if (row === null || !mayDelete || (await isUsed(scope, controlId))) return false;
      const after = { ...row, updatedAtMs: nowMs };
      await controls.remove(controlId, nowMs);
      await recordVersion(scope, context, { eventType: 'deleted', note, before: row, after });
      return true;
    },
  };
}

/** Whether a policy, an agent or a binding has a control. */
async function isUsed(scope: Scoped, controlId: number): Promise<boolean> {
  const uses = [
    await createPolicyControlStore(scope).policyIdsOf(controlId),
    await createAgentControlStore(scope).agentsOf(controlId),
    await createControlBindingStore(scope).idsOf(controlId),
  ];
  return uses.some((list) => list.length > 0);
}
