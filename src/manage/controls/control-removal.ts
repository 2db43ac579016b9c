import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { CallContext } from '../../contract/call/handler.js';
import type { IfVersion } from '../../contract/input/if-version.js';
import { createAgentControlStore } from '../../decide/agent-state/agent-control-store.js';
import { namedAgents } from '../../storage/database/audit-log.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { controlFact, controlState } from './control-audit.js';
import { createControlBindingStore } from './control-binding-store.js';
import { controlInUse } from './control-errors.js';
import { createControlStore } from './control-store.js';
import { changeWarnings, demandedControl } from './existing-control.js';
import { createPolicyControlStore } from './policy-control-store.js';
import { recordVersion } from './version-recording.js';

export interface ControlRemovalOptions {
  readonly mutate: Mutator;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Ids of bindings that one entry of the audit log lists. */
const MAX_AUDITED_BINDINGS = 1_000;

/** Deletes controls, with their links to agents and policies and their bindings. */
export function createControlRemoval({ mutate, now }: ControlRemovalOptions) {
  return {
    /** Throws CONTROL_NOT_FOUND, or CONTROL_IN_USE if it is linked, in a policy or bound and `force` is not set. */
    async remove(context: CallContext, controlId: number, force: boolean, ifVersion: IfVersion) {
      const { reply, warnings } = await mutate(context, async (scope) => {
        const { row, version } = await demandedControl(scope, controlId, ifVersion);
        const agentNames = await createAgentControlStore(scope).agentsOf(controlId);
        const policyIds = await createPolicyControlStore(scope).policyIdsOf(controlId);
        const bindingIds = await createControlBindingStore(scope).idsOf(controlId);
        const inUse = agentNames.length > 0 || policyIds.length > 0 || bindingIds.length > 0;
        if (inUse && !force) throw controlInUse(row.name, policyIds, agentNames, bindingIds);
        const after = { ...row, updatedAtMs: now() };
        await createPolicyControlStore(scope).touch(policyIds, after.updatedAtMs);
        await createControlBindingStore(scope).removeOf(controlId);
        await createControlStore(scope).remove(controlId, after.updatedAtMs);
        await recordVersion(scope, context, { eventType: 'deleted', note: 'Deleted', before: row, after });
        const reply = {
          success: true,
          dissociated_from: policyIds,
          dissociated_from_policies: policyIds,
          dissociated_from_agents: agentNames,
          detached_target_bindings: bindingIds,
        };
        const users = { policy_ids: policyIds, ...namedAgents(agentNames), ...boundBy(bindingIds) };
        const before = { ...controlState(row, version), ...users };
        const audit = controlFact('control.delete', row, before, null);
        const value = { reply, warnings: await changeWarnings(scope, row) };
        // Agents that had it, by a link, a policy or a target, have it in their programs.
        return { value, change: { controls: [controlId] }, audit };
      });
      context.warn(warnings);
      return reply;
    },
  };
}

/** The bindings of a control, as the audit log shows them: at most as many as are worth their room. */
function boundBy(bindingIds: readonly number[]): JsonObject {
  if (bindingIds.length === 0) return {};
  return { bindings: bindingIds.length, binding_ids: bindingIds.slice(0, MAX_AUDITED_BINDINGS) };
}
