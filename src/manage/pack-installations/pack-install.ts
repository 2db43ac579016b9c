import type { HandlerCall } from '../../contract/call/handler.js';
import type { AuditFact } from '../../storage/database/audit-log.js';
import type { Change } from '../../storage/database/change-log.js';
import { once } from '../../storage/database/idempotency.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { createConfigurationState } from '../configuration/configuration-state.js';
import type { ListedPack } from '../packs/catalogue.js';
import { createPackStore } from '../packs/pack-store.js';
import { existingPolicy } from '../policies/existing-policy.js';
import { policyNameConflict } from '../policies/policy-errors.js';
import { createPolicyStore } from '../policies/policy-store.js';
import {
  controlState,
  demandKnown,
  demandPackVersion,
  installationState,
  type PackChangesOptions,
  packFact,
  reviewControls,
  shownInstallation,
} from './pack-changes.js';
import { alreadyInstalled, controlNamesTaken, installationNotFound, packNotFound } from './pack-errors.js';
import { planPack } from './pack-plan.js';
import type { InstallInput } from './pack-schemas.js';
import { writePack } from './pack-writing.js';

/** Installs packs. */
export function createPackInstall(options: PackChangesOptions) {
  const { catalogue, mutate, registry, now } = options;
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
      const offered = pack.controls.filter((control) => chosen.has(control.key));
      const named = offered.map((one) => ({ name: `${prefix}${one.key}`, control: one.definition }));
      const warnings = reviewControls(named, options);
      const installation = await mutate(context, async (scope) => {
        let made: { readonly change: Change; readonly audit: AuditFact } | undefined;
        const nowMs = now();
        const { value } = await once(scope, { rpc: 'InstallPack', key, request, nowMs }, async () => {
          const policyName = await targetPolicy(scope, input, pack.name);
          await demandFree(
            scope,
            named.map(({ name }) => name),
          );
          const plan = planPack({ pack: pack.name, rows: [], offered, overwrite: new Set() }, registry);
          const target = { installation: null, pack, policyName, prefix };
          const writing = { context, note: `Installed with pack ${pack.name} ${pack.version}`, nowMs };
          const { controls, change, policyId } = await writePack(scope, plan, target, registry, writing);
          const row = await createPackStore(scope).findIn(policyId, pack.name);
          if (row === null) throw new Error(`pack ${pack.name} is not installed`);
          const states = controls.map((one) => controlState(one, one.planned?.after));
          made = { change, audit: packFact('pack.install', row, null, installationState(row, states)) };
          return { installation_id: row.id };
        });
        const row = await createPackStore(scope).find(value.installation_id);
        if (row === null) throw installationNotFound(value.installation_id);
        const reply = await shownInstallation(scope, row, packs);
        return made === undefined ? { value: reply, change: null } : { value: reply, ...made };
      });
      return { installation, warnings };
    },
  };
}

/** The name of the policy of the request, which has not got the pack. */
async function targetPolicy(
  scope: Scoped,
  { policy_id: id, policy_name: name = '' }: InstallInput,
  pack: string,
): Promise<string> {
  if (id === undefined) {
    if ((await createPolicyStore(scope).findByName(name)) !== null) throw policyNameConflict(name);
    return name;
  }
  // Agents may get the policy as they register: the controls of a pack name no evaluator of one agent, and can be read.
  const policy = await existingPolicy(scope, id);
  const installed = await createPackStore(scope).findIn(policy.id, pack);
  if (installed !== null) throw alreadyInstalled(pack, policy.name, installed.id);
  return policy.name;
}

/** Throws CONTROL_NAME_CONFLICT with all names that are taken. */
async function demandFree(scope: Scoped, names: readonly string[]): Promise<void> {
  const found = await createConfigurationState(scope).controls(names);
  const stored = new Set(found.map(({ name }) => name));
  const taken = names.filter((name) => stored.has(name));
  if (taken.length > 0) throw controlNamesTaken(taken);
}

/** The chosen keys; all without a choice. Throws a VALIDATION_ERROR for unknown ones. */
function chosenKeys({ controls }: ListedPack, keys: readonly string[]): ReadonlySet<string> {
  const known = controls.map(({ key }) => key);
  demandKnown('keys', keys, known);
  return new Set(keys.length === 0 ? known : keys);
}
