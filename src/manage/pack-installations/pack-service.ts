import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import type { CallContext } from '../../contract/call/handler.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { DbClient } from '../../storage/database/database.js';
import { scopeOf } from '../../storage/database/scoped.js';
import { isDraft } from '../controls/definition/definition.js';
import { readStoredDefinition } from '../controls/definition-presentation.js';
import { definitionText, type PackCatalogue } from '../packs/catalogue.js';
import { createPackStore, type InstallationFilters } from '../packs/pack-store.js';
import { installationNotFound, packNotFound } from './pack-errors.js';
import { type PlannedControl, packChangeOf, planPack } from './pack-plan.js';
import { presentInstallations, presentPack, presentPackControl } from './presentation.js';

export interface PackServiceOptions {
  readonly catalogue: PackCatalogue;
  readonly client: DbClient;
  readonly registry: EvaluatorRegistry;
}

export type PackService = ReturnType<typeof createPackService>;

/** Reads packs and their installations. */
export function createPackService({ catalogue, client, registry }: PackServiceOptions) {
  const installations = async (context: CallContext, filters: InstallationFilters) => {
    const scope = scopeOf(context, client);
    const rows = await createPackStore(scope).list(filters);
    return presentInstallations(rows, { scope, packs: await catalogue.all() });
  };
  const definitionOf = (text: string | null): JsonValue => {
    const stored = text === null ? null : readStoredDefinition(text, registry);
    return stored?.ok === true && !isDraft(stored.stored) ? (stored.definition as JsonValue) : null;
  };
  const presentComparison = (compared: PlannedControl) => {
    const { key, row, offered, merge, planned } = compared;
    const change = packChangeOf(compared);
    const current = row?.control?.data ?? null;
    // One that the pack has no longer stays if it was changed here.
    const after = planned?.after ?? (change === 'conflict' ? current : null);
    return {
      key,
      change,
      control_id: row?.control?.id ?? null,
      control_name: row?.control?.name ?? null,
      changed_here: [...(merge?.changedHere ?? [])],
      changed_in_pack: [...(merge?.changedByOwner ?? [])],
      updated_members: offered === null ? [] : [...(merge?.updated ?? [])],
      current: definitionOf(current),
      in_pack: offered === null ? null : definitionOf(definitionText(offered)),
      after_update: definitionOf(after),
    };
  };

  return {
    async list(context: CallContext) {
      const packs = await catalogue.all();
      return {
        packs: packs.map((pack) => presentPack(pack, registry)),
        installations: await installations(context, { pack: null, policyId: null }),
      };
    },

    /** Throws PACK_NOT_FOUND. */
    async get(context: CallContext, name: string) {
      const pack = await catalogue.find(name);
      if (pack === undefined) throw packNotFound(name);
      return {
        pack: presentPack(pack, registry),
        controls: pack.controls.map(presentPackControl),
        installations: await installations(context, { pack: name, policyId: null }),
      };
    },

    /** Those of a pack that the service does not have any more included. */
    async listInstallations(context: CallContext, filters: InstallationFilters) {
      return { installations: await installations(context, filters) };
    },

    /** Throws PACK_INSTALLATION_NOT_FOUND or PACK_NOT_FOUND. */
    async compare(context: CallContext, installationId: number) {
      const scope = scopeOf(context, client);
      const packs = await catalogue.all();
      const store = createPackStore(scope);
      const row = await store.find(installationId);
      if (row === null) throw installationNotFound(installationId);
      const pack = packs.find(({ name }) => name === row.pack);
      if (pack === undefined) throw packNotFound(row.pack);
      const rows = await store.controls(row.id, null);
      const planning = { pack: pack.name, rows, offered: pack.controls, overwrite: new Set<string>() };
      const [installation] = await presentInstallations([row], { scope, packs });
      return { installation, controls: planPack(planning, registry).map(presentComparison) };
    },
  };
}
