import { createAgentPolicyStore } from '../agents/agent-policy-store.js';
import type { CallContext } from '../contract/call/handler.js';
import { listed } from '../contract/warnings/warning.js';
import { existing as existingControl } from '../controls/control-service.js';
import { reviewLink } from '../controls/link-warnings.js';
import { createPolicyControlStore } from '../controls/policy-control-store.js';
import type { EvaluatorRegistry } from '../core/evaluator.js';
import type { Database, DbClient } from '../database/database.js';
import type { Mutator } from '../database/mutator.js';
import { policyNameConflict, policyNotFound } from './policy-errors.js';
import { createPolicyStore, type PolicyRow } from './policy-store.js';

export interface PolicyServiceOptions {
  readonly database: Database;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export type PolicyService = ReturnType<typeof createPolicyService>;

/** Creates policies and manages their controls. */
export function createPolicyService({ database, mutate, registry, now }: PolicyServiceOptions) {
  return {
    /** Throws POLICY_NAME_CONFLICT. */
    async create(context: CallContext, name: string) {
      const policyId = await mutate(context, async (tx) => {
        const store = createPolicyStore(tx);
        if ((await store.findByName(name)) !== null) throw policyNameConflict(name);
        const row = await store.insert({ name, createdAtMs: now() });
        // No agent has a new policy, so no program is invalidated.
        return { value: row.id, change: {} };
      });
      return { policy_id: policyId };
    },

    /** The ids of the controls of a policy, ascending. Throws POLICY_NOT_FOUND. */
    async listControls(policyId: number) {
      const policy = await existingPolicy(database.client, policyId);
      return { control_ids: await createPolicyControlStore(database.client).controlIdsOf(policy.id) };
    },

    /**
     * Adds a control to a policy. Throws POLICY_NOT_FOUND or CONTROL_NOT_FOUND. Whether the agents of the
     * policy can run the control is not checked here: clients have always been able to change a policy in
     * use, and a control that an agent cannot run fails closed in evaluation.
     */
    async addControl(context: CallContext, policyId: number, controlId: number) {
      const put = await mutate(context, async (tx) => {
        const policy = await existingPolicy(tx, policyId);
        const control = await existingControl(tx, controlId);
        const added = await createPolicyControlStore(tx).add(policy.id, control.id);
        const silent = await createAgentPolicyStore(tx).agentsThatNeverAsked(policy.id);
        return { value: { control, silent }, change: added ? { policies: [policy.id] } : null };
      });
      const { warnings } = reviewLink(put.control, registry, clientsOf(put.silent));
      return { success: true, warnings: listed(warnings) };
    },

    /** Removes a control from a policy. Throws POLICY_NOT_FOUND or CONTROL_NOT_FOUND. */
    async removeControl(context: CallContext, policyId: number, controlId: number) {
      await mutate(context, async (tx) => {
        const policy = await existingPolicy(tx, policyId);
        const control = await existingControl(tx, controlId);
        const removed = await createPolicyControlStore(tx).remove(policy.id, control.id);
        return { value: undefined, change: removed ? { policies: [policy.id] } : null };
      });
      return { success: true };
    },
  };
}

/** Agents of a policy whose clients have never requested controls, in words; null for none. */
export function clientsOf(agents: number): string | null {
  if (agents === 0) return null;
  return agents === 1
    ? 'the client of 1 agent with the policy'
    : `each client of ${agents} agents with the policy`;
}

/** The row of a policy. Throws POLICY_NOT_FOUND. */
export async function existingPolicy(client: DbClient, policyId: number): Promise<PolicyRow> {
  const row = await createPolicyStore(client).find(policyId);
  if (row === null) throw policyNotFound(policyId);
  return row;
}
