import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { HandlerCall } from '../../contract/call/handler.js';
import { listed } from '../../contract/warnings/warning.js';
import { storedState } from '../../storage/database/audit-log.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { appliedWarnings } from '../controls/applied-warnings.js';
import { isDraft } from '../controls/definition/definition.js';
import { readStoredDefinition } from '../controls/definition-presentation.js';
import { createPolicyControlStore } from '../controls/policy-control-store.js';
import { isChanged } from './comparison.js';
import { type ChangeOrigin, createControlChanges, type WrittenDefinition } from './control-changes.js';
import {
  appliedParts,
  demandKnown,
  demandPackVersion,
  installationState,
  type PackChangesOptions,
  packFact,
  type ReviewedControl,
  remembered,
  reviewControls,
  shownInstallation,
} from './pack-changes.js';
import { installationNotFound, packNotFound } from './pack-errors.js';
import { createPackStore, type NewInstalled } from './pack-store.js';
import { compareAll, definitionText, type PlannedControl, planUpdate, prefixOf } from './update-plan.js';

/** Where an update writes, and why. */
interface Target {
  readonly origin: ChangeOrigin;
  readonly policyId: number;
  /** What the names of new controls begin with. */
  readonly prefix: string;
}

/** Updates installations to the packs as they are now. */
export function createPackUpdate(options: PackChangesOptions) {
  const { catalogue, mutate, registry, now } = options;
  const read = (text: string): WrittenDefinition | null => {
    const stored = readStoredDefinition(text, registry);
    return stored.ok && !isDraft(stored.stored) ? { text, control: stored.stored } : null;
  };
  const written = (text: string): WrittenDefinition => {
    const definition = read(text);
    if (definition === null) throw new Error('a definition of a pack cannot be stored');
    return definition;
  };

  return {
    /**
     * Throws PACK_INSTALLATION_NOT_FOUND, PACK_NOT_FOUND, PACK_VERSION_CHANGED, or a VALIDATION_ERROR for unknown keys.
     */
    async update(
      context: HandlerCall,
      installationId: number,
      version: string,
      overwrite: readonly string[],
    ) {
      const packs = await catalogue.all();
      return mutate(context, async (scope) => {
        const store = createPackStore(scope);
        const before = await store.find(installationId);
        if (before === null) throw installationNotFound(installationId);
        const pack = packs.find(({ name }) => name === before.pack);
        if (pack === undefined) throw packNotFound(before.pack);
        demandPackVersion(pack, version);
        const rows = await store.controls(before.id, null);
        const compared = compareAll(rows, pack.controls, (text) => read(text) !== null);
        demandKnown(
          'overwrite',
          overwrite,
          compared.map(({ key }) => key),
        );
        const plan = planUpdate(compared, new Set(overwrite));
        const nowMs = now();
        const note = `Updated to pack ${pack.name} ${pack.version}`;
        const done = await carryOut(scope, plan, {
          origin: { context, note, nowMs },
          policyId: before.policyId,
          prefix: prefixOf(pack.name, rows),
        });
        const isSame = done.updated.length === 0 && before.version === pack.version && !basesDiffer(plan);
        if (!isSame) await store.write(before.id, pack.version, done.rows, nowMs);
        if (done.touchesPolicy) await createPolicyControlStore(scope).touch([before.policyId], nowMs);
        const after = isSame ? before : { ...before, version: pack.version, updatedAtMs: nowMs };
        const changed = rows.filter(({ key }) => done.updated.includes(key));
        const parts = isSame ? [] : appliedParts(before, changed, done.touchesPolicy);
        const value = {
          installation: await shownInstallation(scope, after, packs),
          updated: done.updated,
          kept: plan.filter(({ keeps }) => keeps).map(({ key }) => key),
          warnings: listed(
            reviewControls(done.reviewed, options),
            await appliedWarnings(scope, 'installation_id', parts),
          ),
        };
        if (isSame) return { value, change: null };
        const states = [
          { ...installationState(before), controls: done.before },
          { ...installationState(after), controls: done.after },
        ] as const;
        const change = {
          controls: done.controlIds,
          ...(done.touchesPolicy ? { policies: [before.policyId] } : {}),
        };
        return { value, change, audit: packFact('pack.update', after, ...states) };
      });
    },
  };

  /** Does what is planned. */
  async function carryOut(
    scope: Scoped,
    plan: readonly PlannedControl[],
    { origin, policyId, prefix }: Target,
  ) {
    const changes = createControlChanges(scope, origin);
    const done = {
      updated: [] as string[],
      controlIds: [] as number[],
      rows: [] as NewInstalled[],
      before: [] as JsonObject[],
      after: [] as JsonObject[],
      touchesPolicy: false,
      reviewed: [] as ReviewedControl[],
    };
    const state = (key: string, id: number, name: string, text: string): JsonObject => {
      return { key, control_id: id, name, data: storedState(text) };
    };
    for (const { key, row, offered, done: planned } of plan) {
      const control = row?.control ?? null;
      let controlId = control?.id ?? null;
      if (planned.act === 'create') {
        const name = await changes.freeName(`${prefix}${key}`);
        const definition = written(planned.text);
        controlId = (await changes.create(policyId, name, definition)).id;
        done.reviewed.push({ name, control: definition.control });
        done.after.push(state(key, controlId, name, planned.text));
        done.touchesPolicy = true;
      } else if (planned.act === 'write' && control !== null) {
        const definition = written(planned.text);
        await changes.write(control.id, definition);
        done.reviewed.push({ name: control.name, control: definition.control });
        done.controlIds.push(control.id);
        done.before.push(state(key, control.id, control.name, control.data));
        done.after.push(state(key, control.id, control.name, planned.text));
      } else if (planned.act === 'remove' && control !== null) {
        const isDeleted = await changes.remove(policyId, control.id, true);
        done.before.push(state(key, control.id, control.name, control.data));
        if (isDeleted) done.controlIds.push(control.id);
        done.touchesPolicy = true;
      }
      if (planned.act !== 'none' && planned.act !== 'leave') done.updated.push(key);
      if (offered !== null) done.rows.push(remembered(offered, controlId));
    }
    return done;
  }
}

/** Whether the pack has other definitions than those that were installed, or other controls. */
function basesDiffer(plan: readonly PlannedControl[]): boolean {
  return plan.some(
    ({ row, offered }) => row === null || offered === null || isChanged(row.base, definitionText(offered)),
  );
}
