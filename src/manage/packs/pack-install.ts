import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { HandlerCall } from '../../contract/call/handler.js';
import { type AuditFact, storedState } from '../../storage/database/audit-log.js';
import { once } from '../../storage/database/idempotency.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { createPolicyControlStore } from '../controls/policy-control-store.js';
import { existingPolicy } from '../policies/existing-policy.js';
import { policyNameConflict } from '../policies/policy-errors.js';
import { createPolicyStore, type PolicyRow } from '../policies/policy-store.js';
import type { ListedPack } from './catalogue.js';
import { createControlChanges } from './control-changes.js';
import {
  demandKnown,
  demandPackVersion,
  installationState,
  type PackChangesOptions,
  packFact,
  remembered,
  reviewControls,
  shownInstallation,
} from './pack-changes.js';
import { alreadyInstalled, installationNotFound, packNotFound } from './pack-errors.js';
import type { InstallInput } from './pack-schemas.js';
import { createPackStore } from './pack-store.js';
import { definitionText } from './update-plan.js';

/** Installs packs. */
export function createPackInstall(options: PackChangesOptions) {
  const { catalogue, mutate, now } = options;
  return {
    /**
     * Throws PACK_NOT_FOUND, PACK_VERSION_CHANGED, POLICY_NOT_FOUND, POLICY_NAME_CONFLICT, PACK_ALREADY_INSTALLED,
     * CONTROL_NAME_CONFLICT, IDEMPOTENCY_CONFLICT, or a VALIDATION_ERROR for unknown keys.
     */
    async install(context: HandlerCall, input: InstallInput) {
      const { idempotency_key: key, ...request } = input;
      const packs = await catalogue.all();
      const pack = packs.find(({ name }) => name === input.pack_name);
      if (pack === undefined) throw packNotFound(input.pack_name);
      if (input.version !== undefined) demandPackVersion(pack, input.version);
      const chosen = chosenKeys(pack, input.keys);
      const prefix = input.name_prefix ?? `${pack.name}-`;
      const created = pack.controls.filter((control) => chosen.has(control.key));
      const named = created.map((control) => ({
        name: `${prefix}${control.key}`,
        control: control.definition,
      }));
      const warnings = reviewControls(named, options);
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
        const reply = await shownInstallation(scope, row, packs);
        if (made.audit === undefined) return { value: reply, change: null };
        return { value: reply, change: { policies: [row.policyId] }, audit: made.audit };
      });
      return { installation, warnings };
    },
  };
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

/** The chosen keys; all without a choice. Throws a VALIDATION_ERROR for unknown ones. */
function chosenKeys({ controls }: ListedPack, keys: readonly string[]): ReadonlySet<string> {
  const known = controls.map(({ key }) => key);
  demandKnown('keys', keys, known);
  return new Set(keys.length === 0 ? known : keys);
}
