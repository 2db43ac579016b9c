import type { HandlerCall } from '../../contract/call/handler.js';
import { listed } from '../../contract/warnings/warning.js';
import { isChanged } from '../configuration/member-merge.js';
import { appliedWarnings } from '../controls/applied-warnings.js';
import { definitionText } from '../packs/catalogue.js';
import { createPackStore } from '../packs/pack-store.js';
import {
  appliedParts,
  controlState,
  demandKnown,
  demandPackVersion,
  installationState,
  type PackChangesOptions,
  packFact,
  reviewControls,
  shownInstallation,
} from './pack-changes.js';
import { installationNotFound, packNotFound } from './pack-errors.js';
import { keepsChanges, type PlannedControl, planPack, prefixOf } from './pack-plan.js';
import { writePack } from './pack-writing.js';

/** Updates installations to the packs as they are now, and removes them. */
export function createPackUpdate(options: PackChangesOptions) {
  const { catalogue, mutate, registry, now } = options;
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
        const overwritten = new Set(overwrite);
        const plan = planPack(
          { pack: pack.name, rows, offered: pack.controls, overwrite: overwritten },
          registry,
        );
        demandKnown(
          'overwrite',
          overwrite,
          plan.map(({ key }) => key),
        );
        const kept = plan.filter((one) => keepsChanges(one, overwritten)).map(({ key }) => key);
        if (before.version === pack.version && plan.every(isSame)) {
          const installation = await shownInstallation(scope, before, packs);
          return { value: { installation, updated: [], kept, warnings: [] }, change: null };
        }
        const nowMs = now();
        const target = {
          installation: before,
          pack,
          policyName: before.policyName,
          prefix: prefixOf(pack.name, rows),
        };
        const writing = { context, note: `Updated to pack ${pack.name} ${pack.version}`, nowMs };
        const written = await writePack(scope, plan, target, registry, writing);
        const changed = written.controls.filter(({ act }) => act !== 'none');
        const touchesPolicy = changed.some(({ act }) => act !== 'update');
        const after = { ...before, version: pack.version, updatedAtMs: nowMs };
        const value = {
          installation: await shownInstallation(scope, after, packs),
          updated: changed.map(({ key }) => key),
          kept,
          warnings: listed(
            reviewControls(
              written.prepared.map(({ desired: { name }, control }) => ({ name, control })),
              options,
            ),
            await appliedWarnings(scope, 'installation_id', appliedParts(before, changed, touchesPolicy)),
          ),
        };
        const were = changed.filter(({ act }) => act !== 'create');
        const are = changed.filter(({ act }) => act === 'create' || act === 'update');
        const states = [
          installationState(
            before,
            were.map((one) => controlState(one, one.row?.control?.data)),
          ),
          installationState(
            after,
            are.map((one) => controlState(one, one.planned?.after)),
          ),
        ] as const;
        return { value, change: written.change, audit: packFact('pack.update', after, ...states) };
      });
    },

    /** What is not there is removed already. `force`: whether changed controls are deleted as well. */
    async uninstall(context: HandlerCall, installationId: number, force: boolean) {
      const { reply, warnings } = await mutate(context, async (scope) => {
        const store = createPackStore(scope);
        const row = await store.find(installationId);
        if (row === null) {
          const reply = { removed: false, deleted_controls: [], kept_controls: [] };
          return { value: { reply, warnings: [] }, change: null };
        }
        const rows = await store.controls(row.id, null);
        const overwrite = new Set(force ? rows.map(({ key }) => key) : []);
        const plan = planPack({ pack: row.pack, rows, offered: [], overwrite }, registry);
        const target = {
          installation: row,
          pack: null,
          policyName: row.policyName,
          prefix: '',
        };
        const writing = { context, note: `Deleted with pack ${row.pack} ${row.version}`, nowMs: now() };
        const written = await writePack(scope, plan, target, registry, writing);
        const left = written.controls.filter(({ act }) => act !== 'none');
        const idsOf = (act: 'delete' | 'leave') =>
          left.flatMap((one) => (one.act === act ? (one.id ?? []) : []));
        const states = left.map((one) =>
          controlState(one, one.act === 'delete' ? one.row?.control?.data : null),
        );
        const before = { ...installationState(row, states), kept_control_ids: idsOf('leave') };
        const reply = {
          removed: true,
          deleted_controls: idsOf('delete').sort(ascending),
          kept_controls: idsOf('leave').sort(ascending),
        };
        const gone = left.filter(({ act }) => act === 'delete');
        return {
          value: {
            reply,
            warnings: await appliedWarnings(scope, 'installation_id', appliedParts(row, gone, true)),
          },
          change: written.change,
          audit: packFact('pack.uninstall', row, before, null),
        };
      });
      context.warn(listed(warnings));
      return reply;
    },
  };
}

/** Whether nothing is written of a control, nor remembered: the pack has what was installed. */
function isSame({ row, offered, planned }: PlannedControl): boolean {
  if (row === null || offered === null || isChanged(row.base, definitionText(offered))) return false;
  return planned === null || planned.change === 'unchanged';
}

function ascending(one: number, other: number): number {
  return one - other;
}
