import type { JsonObject } from '../../packages/exact-json/src/index.js';
import type { HandlerCall } from '../contract/call/handler.js';
import { listed, refuseMistakes, type Warning } from '../contract/warnings/warning.js';
import { isDraft, type StoredControl } from '../controls/definition/definition.js';
import { readStoredDefinition } from '../controls/definition-presentation.js';
import { definitionWarnings } from '../controls/definition-warnings/definition-warnings.js';
import { createPolicyControlStore } from '../controls/policy-control-store.js';
import type { EvaluatorRegistry } from '../core/evaluator.js';
import type { AuditFact } from '../database/audit-log.js';
import { storedState } from '../database/audit-log.js';
import { once } from '../database/idempotency.js';
import type { Mutator } from '../database/mutator.js';
import type { Scoped } from '../database/scoped.js';
import { policyNameConflict } from '../policies/policy-errors.js';
import { existingPolicy } from '../policies/policy-service.js';
import { createPolicyStore, type PolicyRow } from '../policies/policy-store.js';
import type { ListedControl, ListedPack, PackCatalogue } from './catalogue.js';
import { isChanged } from './comparison.js';
import { createControlChanges, type WrittenDefinition } from './control-changes.js';
import {
  alreadyInstalled,
  installationNotFound,
  packNotFound,
  packVersionChanged,
  unknownKeys,
} from './pack-errors.js';
import type { InstallInput } from './pack-schemas.js';
import { createPackStore, type InstallationRow, type NewInstalled } from './pack-store.js';
import { presentInstallations } from './presentation.js';
import { compareAll, definitionText, type PlannedControl, planUpdate, prefixOf } from './update-plan.js';

export interface PackChangesOptions {
  readonly catalogue: PackCatalogue;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  /** Whether mistakes in definitions are always rejected. */
  readonly strict: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export type PackChanges = ReturnType<typeof createPackChanges>;

/** Installs, updates and removes packs, each in one mutation: all of it or nothing. */
export function createPackChanges({ catalogue, mutate, registry, strict, now }: PackChangesOptions) {
  /** The warnings about definitions. Throws a VALIDATION_ERROR with mistakes in strict mode. */
  const review = (
    controls: readonly { readonly name: string; readonly control: StoredControl }[],
  ): Warning[] => {
    const warnings = controls.map(({ name, control }) =>
      [...definitionWarnings(control, registry)].map(
        (warning): Warning => ({ ...warning, message: `control "${name}": ${warning.message}` }),
      ),
    );
    const all = listed(...warnings);
    if (strict) refuseMistakes(all, 'Control');
    return all;
  };
  const read = (text: string): WrittenDefinition | null => {
    const stored = readStoredDefinition(text, registry);
    return stored.ok && !isDraft(stored.stored) ? { text, control: stored.stored } : null;
  };
  const written = (text: string): WrittenDefinition => {
    const definition = read(text);
    if (definition === null) throw new Error('a definition of a pack cannot be stored');
    return definition;
  };
  const shown = async (scope: Scoped, row: InstallationRow) => {
    const [installation] = await presentInstallations([row], { scope, packs: await catalogue.all() });
    return installation as NonNullable<typeof installation>;
  };

  return {
    /**
     * Throws PACK_NOT_FOUND, PACK_VERSION_CHANGED, POLICY_NOT_FOUND, POLICY_NAME_CONFLICT, PACK_ALREADY_INSTALLED,
     * CONTROL_NAME_CONFLICT, IDEMPOTENCY_CONFLICT, or a VALIDATION_ERROR for unknown keys.
     */
    async install(context: HandlerCall, input: InstallInput) {
      const { idempotency_key: key, ...request } = input;
      const pack = await catalogue.find(input.pack_name);
      if (pack === undefined) throw packNotFound(input.pack_name);
      if (input.version !== undefined) demandPackVersion(pack, input.version);
      const chosen = chosenKeys(pack, input.keys);
      const prefix = input.name_prefix ?? `${pack.name}-`;
      const created = pack.controls.filter((control) => chosen.has(control.key));
      const named = created.map((control) => ({
        name: `${prefix}${control.key}`,
        control: control.definition,
      }));
      const warnings = review(named);
      const installation = await mutate(context, async (scope) => {
        const made: { audit?: AuditFact; policyId?: number } = {};
        const nowMs = now();
        const { value } = await once(scope, { rpc: 'InstallPack', key, request, nowMs }, async () => {
          const policy = await targetPolicy(scope, input, pack.name, nowMs);
          const note = `Installed with pack ${pack.name} ${pack.version}`;
          const changes = createControlChanges(scope, { context, note, nowMs });
          await changes.demandFree(named.map(({ name }) => name));
          const row = await createPackStore(scope).insert(pack.name, pack.version, policy.id, nowMs);
          const installed = new Map<string, number>();
          const states: JsonObject[] = [];
          for (const { key: controlKey, definition } of created) {
            const text = definitionText({ definition });
            const name = `${prefix}${controlKey}`;
            const control = await changes.create(policy.id, name, { text, control: definition });
            installed.set(controlKey, control.id);
            states.push({ key: controlKey, control_id: control.id, name, data: storedState(text) });
          }
          const rows = pack.controls.map((control) =>
            remembered(control, installed.get(control.key) ?? null),
          );
          await createPackStore(scope).write(row.id, pack.version, rows, nowMs);
          if (input.policy_id !== undefined) await createPolicyControlStore(scope).touch([policy.id], nowMs);
          made.policyId = policy.id;
          made.audit = packFact('pack.install', row, null, { ...installationState(row), controls: states });
          return { installation_id: row.id };
        });
        const row = await createPackStore(scope).find(value.installation_id);
        if (row === null) throw installationNotFound(value.installation_id);
        const reply = await shown(scope, row);
        if (made.audit === undefined) return { value: reply, change: null };
        return { value: reply, change: { policies: [row.policyId] }, audit: made.audit };
      });
      return { installation, warnings };
    },

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
        const done = await carryOut(scope, context, before, pack, plan, prefixOf(pack.name, rows), nowMs);
        const isSame = done.updated.length === 0 && before.version === pack.version && !basesDiffer(plan);
        if (!isSame) await store.write(before.id, pack.version, done.rows, nowMs);
        if (done.touchesPolicy) await createPolicyControlStore(scope).touch([before.policyId], nowMs);
        const after = isSame ? before : { ...before, version: pack.version, updatedAtMs: nowMs };
        const value = {
          installation: await shown(scope, after),
          updated: done.updated,
          kept: plan.filter(({ keeps }) => keeps).map(({ key }) => key),
          warnings: done.warnings,
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

    /** What is not there is removed already. `force`: whether changed controls are deleted as well. */
    async uninstall(context: HandlerCall, installationId: number, force: boolean) {
      return mutate(context, async (scope) => {
        const store = createPackStore(scope);
        const row = await store.find(installationId);
        if (row === null) {
          return { value: { removed: false, deleted_controls: [], kept_controls: [] }, change: null };
        }
        const nowMs = now();
        const note = `Deleted with pack ${row.pack} ${row.version}`;
        const changes = createControlChanges(scope, { context, note, nowMs });
        const deleted: number[] = [];
        const kept: number[] = [];
        const states: JsonObject[] = [];
        for (const { key, base, control } of await store.controls(row.id, null)) {
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
        return {
          value: {
            removed: true,
            deleted_controls: deleted.sort(ascending),
            kept_controls: kept.sort(ascending),
          },
          change: { controls: deleted, policies: [row.policyId] },
          audit: packFact('pack.uninstall', row, before, null),
        };
      });
    },
  };

  /** Does what is planned. */
  async function carryOut(
    scope: Scoped,
    context: HandlerCall,
    installation: InstallationRow,
    pack: ListedPack,
    plan: readonly PlannedControl[],
    prefix: string,
    nowMs: number,
  ) {
    const note = `Updated to pack ${pack.name} ${pack.version}`;
    const changes = createControlChanges(scope, { context, note, nowMs });
    const reviewed: { name: string; control: StoredControl }[] = [];
    const done = {
      updated: [] as string[],
      controlIds: [] as number[],
      rows: [] as NewInstalled[],
      before: [] as JsonObject[],
      after: [] as JsonObject[],
      touchesPolicy: false,
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
        controlId = (await changes.create(installation.policyId, name, definition)).id;
        reviewed.push({ name, control: definition.control });
        done.after.push(state(key, controlId, name, planned.text));
        done.touchesPolicy = true;
      } else if (planned.act === 'write' && control !== null) {
        const definition = written(planned.text);
        await changes.write(control.id, definition);
        reviewed.push({ name: control.name, control: definition.control });
        done.controlIds.push(control.id);
        done.before.push(state(key, control.id, control.name, control.data));
        done.after.push(state(key, control.id, control.name, planned.text));
      } else if (planned.act === 'remove' && control !== null) {
        const isDeleted = await changes.remove(installation.policyId, control.id, true);
        done.before.push(state(key, control.id, control.name, control.data));
        if (isDeleted) done.controlIds.push(control.id);
        done.touchesPolicy = true;
      }
      if (planned.act !== 'none' && planned.act !== 'leave') done.updated.push(key);
      if (offered !== null) done.rows.push(remembered(offered, controlId));
    }
    return { ...done, warnings: review(reviewed) };
  }
}

/** The policy of the request, found or created. */
async function targetPolicy(
  scope: Scoped,
  { policy_id: id, policy_name: name = '' }: InstallInput,
  pack: string,
  nowMs: number,
): Promise<PolicyRow> {
  const policies = createPolicyStore(scope);
  if (id === undefined) {
    if ((await policies.findByName(name)) !== null) throw policyNameConflict(name);
    return policies.insert({ name, createdAtMs: nowMs });
  }
  // Agents may get the policy as they register: the controls of a pack name no evaluator of one agent, and can be read.
  const policy = await existingPolicy(scope, id);
  const installed = await createPackStore(scope).findIn(policy.id, pack);
  if (installed !== null) throw alreadyInstalled(pack, policy.name, installed.id);
  return policy;
}

function demandPackVersion(pack: ListedPack, version: string): void {
  if (pack.version !== version) throw packVersionChanged(pack.name, version, pack.version);
}

/** The chosen keys; all without a choice. Throws a VALIDATION_ERROR for unknown ones. */
function chosenKeys({ controls }: ListedPack, keys: readonly string[]): ReadonlySet<string> {
  const known = controls.map(({ key }) => key);
  demandKnown('keys', keys, known);
  return new Set(keys.length === 0 ? known : keys);
}

function demandKnown(member: 'keys' | 'overwrite', keys: readonly string[], known: readonly string[]): void {
  const names = new Set(known);
  const unknown = keys.map((key, index) => ({ key, index })).filter(({ key }) => !names.has(key));
  if (unknown.length > 0) throw unknownKeys(member, unknown, known);
}

function remembered(control: ListedControl, controlId: number | null): NewInstalled {
  return { key: control.key, controlId, base: definitionText(control) };
}

/** Whether the pack has other definitions than those that were installed, or other controls. */
function basesDiffer(plan: readonly PlannedControl[]): boolean {
  return plan.some(
    ({ row, offered }) => row === null || offered === null || isChanged(row.base, definitionText(offered)),
  );
}

function packFact(
  action: `pack.${string}`,
  { id, pack }: InstallationRow,
  before: JsonObject | null,
  after: JsonObject | null,
): AuditFact {
  return { action, resource: 'pack', id: String(id), name: pack, before, after };
}

function installationState({ pack, version, policyId, policyName }: InstallationRow): JsonObject {
  return { pack, version, policy_id: policyId, policy_name: policyName };
}

function ascending(one: number, other: number): number {
  return one - other;
}
