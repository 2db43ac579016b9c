import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { HandlerCall } from '../../contract/call/handler.js';
import { listed } from '../../contract/warnings/warning.js';
import { storedState } from '../../storage/database/audit-log.js';
import { appliedWarnings } from '../controls/applied-warnings.js';
import { createPolicyControlStore } from '../controls/policy-control-store.js';
import { isChanged } from './comparison.js';
import { createControlChanges } from './control-changes.js';
import { appliedParts, installationState, type PackChangesOptions, packFact } from './pack-changes.js';
import { createPackStore } from './pack-store.js';

/** Removes installations. */
export function createPackRemoval({ mutate, now }: Pick<PackChangesOptions, 'mutate' | 'now'>) {
  return {
    /** What is not there is removed already. `force`: whether changed controls are deleted as well. */
    async uninstall(context: HandlerCall, installationId: number, force: boolean) {
      const { reply, warnings } = await mutate(context, async (scope) => {
        const store = createPackStore(scope);
        const row = await store.find(installationId);
        if (row === null) {
          const reply = { removed: false, deleted_controls: [], kept_controls: [] };
          return { value: { reply, warnings: [] }, change: null };
        }
        const nowMs = now();
        const note = `Deleted with pack ${row.pack} ${row.version}`;
        const changes = createControlChanges(scope, { context, note, nowMs });
        const deleted: number[] = [];
        const kept: number[] = [];
        const states: JsonObject[] = [];
        const installed = await store.controls(row.id, null);
        for (const { key, base, control } of installed) {
          if (control === null) continue;
          const mayDelete = force || !isChanged(base, control.data);
          const isDeleted = await changes.remove(row.policyId, control.id, mayDelete);
          (isDeleted ? deleted : kept).push(control.id);
          const data = isDeleted ? { data: storedState(control.data) } : {};
          states.push({ key, control_id: control.id, name: control.name, ...data });
        }
        await store.remove(row.id);
        await createPolicyControlStore(scope).touch([row.policyId], nowMs);
        const before = { ...installationState(row), controls: states, kept_control_ids: kept };
        const reply = {
          removed: true,
          deleted_controls: deleted.sort(ascending),
          kept_controls: kept.sort(ascending),
        };
        const gone = installed.filter(({ control }) => control !== null && deleted.includes(control.id));
        const parts = appliedParts(row, gone, true);
        return {
          value: { reply, warnings: await appliedWarnings(scope, 'installation_id', parts) },
          change: { controls: deleted, policies: [row.policyId] },
          audit: packFact('pack.uninstall', row, before, null),
        };
      });
      context.warn(listed(warnings));
      return reply;
    },
  };
}

function ascending(one: number, other: number): number {
  return one - other;
}
