import type { CallContext } from '../../contract/call/handler.js';
import { type PageAsked, paginationOf } from '../../contract/call/page.js';
import { demandVersion, type IfVersion } from '../../contract/input/if-version.js';
import { MAX_ERROR_ITEMS } from '../../contract/input/items.js';
import { listed, type Warning } from '../../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { namedAgents } from '../../storage/database/audit-log.js';
import { MAX_LISTED_AGENTS } from '../../storage/database/change-log.js';
import type { Database } from '../../storage/database/database.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import { controlLink } from '../agents/agent-audit.js';
import { type DemandedLabel, labelText } from '../agents/agent-labels.js';
import { createAgentPolicyStore } from '../agents/agent-policy-store.js';
import { keysOf, namesOf } from '../agents/named-agent.js';
import { appliedWarnings, ownersOf } from '../controls/applied-warnings.js';
import { existingControl } from '../controls/existing-control.js';
import { hiddenLinkWarnings } from '../controls/hidden-controls.js';
import { reviewLink } from '../controls/link-warnings.js';
import { createPolicyControlStore } from '../controls/policy-control-store.js';
import { demandForAnyAgent } from './any-agent.js';
import { policyFact } from './policy-audit.js';
import { policyInUse, policyNameConflict, policyNotFound } from './policy-errors.js';
import { setLabels } from './policy-labels.js';
import { createPolicyStore, type PolicyFilters, type PolicyRow, type WholePolicy } from './policy-store.js';

export interface PolicyServiceOptions {
  readonly database: Database;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Reads the labels of registrations of programs that do not read them. */
  readonly catchUpLabels: () => Promise<void>;
}

/** What a policy is to have; absent members stay. */
export interface PolicyUpdate {
  readonly name?: string | undefined;
  readonly everyAgent?: boolean | undefined;
  /** Empty if labels shall give it to no agent. */
  readonly labels?: readonly DemandedLabel[] | undefined;
}

export type PolicyService = ReturnType<typeof createPolicyService>;

/** Creates, reads, changes and deletes policies, and manages their controls. */
export function createPolicyService(options: PolicyServiceOptions) {
  const { database, mutate, registry, now, catchUpLabels } = options;
  return {
    /** Throws POLICY_NAME_CONFLICT. */
    async create(context: CallContext, name: string) {
      return mutate(context, async (scope) => {
        const store = createPolicyStore(scope);
        if ((await store.findByName(name)) !== null) throw policyNameConflict(name);
        const row = await store.insert({ name, createdAtMs: now() });
        const audit = policyFact('policy.create', row, null, { version: row.version, name });
        // No agent has a new policy, so no program is invalidated.
        return { value: { policy_id: row.id, version: row.version }, change: {}, audit };
      });
    },

    /** One page of policies, newest id first. */
    async list(context: CallContext, filters: PolicyFilters) {
      const scope = scopeOf(context, database.client);
      const page = await createPolicyStore(scope).list(filters);
      return {
        policies: await printedPolicies(scope, page.rows),
        pagination: paginationOf(page, filters.limit),
      };
    },

    /** Throws POLICY_NOT_FOUND. */
    get: (context: CallContext, policyId: number) => replyOf(scopeOf(context, database.client), policyId),

    /** Throws POLICY_NOT_FOUND, VERSION_MISMATCH, POLICY_NAME_CONFLICT or POLICY_CONTROL_INCOMPATIBLE. */
    async update(context: CallContext, policyId: number, wanted: PolicyUpdate, ifVersion: IfVersion) {
      if (wanted.labels !== undefined) await catchUpLabels();
      const { reply, warnings } = await mutate(context, async (scope) => {
        const policy = await demandedPolicy(scope, policyId, ifVersion);
        const { name = policy.name, everyAgent = policy.everyAgent } = wanted;
        const [isRenamed, isMarked] = [name !== policy.name, everyAgent !== policy.everyAgent];
        const store = createPolicyStore(scope);
        const labels =
          wanted.labels === undefined ? null : await setLabels(scope, policy, wanted.labels, registry);
        if (!isRenamed && !isMarked && labels === null) {
          return { value: { reply: await replyOf(scope, policy.id), warnings: [] }, change: null };
        }
        if (isRenamed) {
          if ((await store.findByName(name)) !== null) throw policyNameConflict(name);
          await store.rename(policy.id, { name, updatedAtMs: now() });
        }
        if (isMarked) {
          if (everyAgent) {
            demandForAnyAgent(await createPolicyControlStore(scope).controlsOf(policy.id), registry);
          }
          await store.setEveryAgent(policy.id, everyAgent);
        }
        const reply = await replyOf(scope, policy.id);
        const { version, name: oldName, everyAgent: old } = policy;
        const before = {
          version,
          name: oldName,
          ...(isMarked ? { every_agent: old } : {}),
          ...labels?.before,
        };
        const after = {
          version: reply.version,
          name,
          ...(isMarked ? { every_agent: everyAgent } : {}),
          ...labels?.after,
        };
        const action = isMarked || labels !== null ? 'policy.update' : 'policy.rename';
        const audit = policyFact(action, { ...policy, name }, before, after);
        // No verdict contains the name of a policy; a mark may change those of any agent.
        const agents = labels?.agents ?? [];
        const value = { reply, warnings: await changeWarnings(scope, policy) };
        return { value, ...(isMarked && everyAgent ? {} : { change: { agents } }), audit };
      });
      context.warn(warnings);
      return reply;
    },

    /** Throws POLICY_NOT_FOUND, VERSION_MISMATCH, or POLICY_IN_USE if agents have it and `force` is not set. */
    async remove(context: CallContext, policyId: number, force: boolean, ifVersion: IfVersion) {
      const { reply, warnings } = await mutate(context, async (scope) => {
        const policy = await demandedPolicy(scope, policyId, ifVersion);
        const store = createPolicyStore(scope);
        // One more than a change lists tells that there are too many.
        const { first, count } = await store.firstAgents(policy.id, MAX_LISTED_AGENTS + 1);
        const names = namesOf(first);
        if (count > 0 && !force) throw policyInUse(policy.name, names.slice(0, MAX_ERROR_ITEMS), count);
        const controlIds = await createPolicyControlStore(scope).controlIdsOf(policy.id);
        await store.remove(policy.id);
        const reply = {
          success: true,
          removed_from_agents_count: count,
          removed_from_agents: names.slice(0, MAX_LISTED_AGENTS),
        };
        const { version, name } = policy;
        const value = { reply, warnings: await changeWarnings(scope, policy) };
        const before = { version, name, control_ids: controlIds, ...namedAgents(names), agent_count: count };
        return {
          value,
          change: { agents: keysOf(first) },
          audit: policyFact('policy.delete', policy, before, null),
        };
      });
      context.warn(warnings);
      return reply;
    },

    /** One page of the agents with a policy, by name. Throws POLICY_NOT_FOUND. */
    async listAgents(context: CallContext, policyId: number, asked: PageAsked<string>) {
      const scope = scopeOf(context, database.client);
      const policy = await existingPolicy(scope, policyId);
      const page = await createPolicyStore(scope).agents(policy.id, asked);
      return {
        agents: page.rows.map(({ name, byLabels }) => ({ agent_name: name, by_labels: byLabels })),
        pagination: paginationOf(page, asked.limit, ({ name }) => name),
      };
    },

    /** The ids of the controls of a policy, ascending. Throws POLICY_NOT_FOUND. */
    async listControls(context: CallContext, policyId: number) {
      const scope = scopeOf(context, database.client);
      const policy = await existingPolicy(scope, policyId);
      return { control_ids: await createPolicyControlStore(scope).controlIdsOf(policy.id) };
    },

    /**
     * Adds a control to a policy. Throws POLICY_NOT_FOUND, VERSION_MISMATCH, CONTROL_NOT_FOUND, or
     * POLICY_CONTROL_INCOMPATIBLE if agents get the policy as they register and the control is only for some. Whether the agents of the
     * policy can run the control is not checked here: clients have always been able to change a policy in
     * use, and a control that an agent cannot run fails closed in evaluation.
     */
    async addControl(context: CallContext, policyId: number, controlId: number, ifVersion: IfVersion) {
      const put = await mutate(context, async (scope) => {
        const policy = await demandedPolicy(scope, policyId, ifVersion);
        const control = await existingControl(scope, controlId);
        if (policy.everyAgent || policy.labels.length > 0) demandForAnyAgent([control], registry);
        const added = await createPolicyControlStore(scope).add(policy.id, control.id);
        const silent = await createAgentPolicyStore(scope).agentsThatNeverAsked(policy.id);
        const unchanged = { control, silent, version: policy.version, applied: [] };
        if (!added) return { value: unchanged, change: null };
        const version = await nextVersion(scope, policy);
        const applied = await changeWarnings(scope, policy);
        const audit = policyFact('policy.add_control', policy, null, controlLink(control));
        const value = { control, silent, version, applied };
        return { value, change: { policies: [policy.id] }, audit };
      });
      const { warnings } = reviewLink(put.control, registry, clientsOf(put.silent));
      const hidden = await hiddenLinkWarnings(scopeOf(context, database.client), put.control, registry);
      return { success: true, warnings: listed(warnings, hidden, put.applied), version: put.version };
    },

    /** Removes a control from a policy. Throws POLICY_NOT_FOUND, VERSION_MISMATCH or CONTROL_NOT_FOUND. */
    async removeControl(context: CallContext, policyId: number, controlId: number, ifVersion: IfVersion) {
      const { version, warnings } = await mutate(context, async (scope) => {
        const policy = await demandedPolicy(scope, policyId, ifVersion);
        const control = await existingControl(scope, controlId);
        const removed = await createPolicyControlStore(scope).remove(policy.id, control.id);
        if (!removed) return { value: { version: policy.version, warnings: [] }, change: null };
        const value = {
          version: await nextVersion(scope, policy),
          warnings: await changeWarnings(scope, policy),
        };
        const audit = policyFact('policy.remove_control', policy, controlLink(control), null);
        return { value, change: { policies: [policy.id] }, audit };
      });
      context.warn(warnings);
      return { success: true, version };
    },
  };

  async function nextVersion(scope: Scoped, policy: PolicyRow): Promise<number> {
    await createPolicyControlStore(scope).touch([policy.id], now());
    return policy.version + 1;
  }
}

/** A warning if a policy that was changed is applied as configuration. */
function changeWarnings(scope: Scoped, { name }: PolicyRow): Promise<Warning[]> {
  return appliedWarnings(scope, 'policy_id', [{ family: 'policy', name }]);
}

/** Policies as contained in replies. */
export async function printedPolicies(scope: Scoped, policies: readonly WholePolicy[]) {
  const owners = await ownersOf(
    scope,
    'policy',
    policies.map(({ name }) => name),
  );
  return policies.map((policy) => printedPolicy(policy, owners.get(policy.name) ?? null));
}

function printedPolicy(policy: WholePolicy, owner: string | null) {
  const { id, name, version, controlIds, agentCount, createdAtMs, updatedAtMs } = policy;
  return {
    id,
    name,
    control_ids: controlIds,
    version,
    update_time: new Date(updatedAtMs).toISOString(),
    agent_count: agentCount,
    create_time: new Date(createdAtMs).toISOString(),
    every_agent: policy.everyAgent,
    agent_labels: policy.labels.map(labelText),
    owner,
  };
}

async function replyOf(scope: Scoped, policyId: number) {
  const policy = await createPolicyStore(scope).findWhole(policyId);
  if (policy === null) throw policyNotFound(policyId);
  const owners = await ownersOf(scope, 'policy', [policy.name]);
  return { policy: printedPolicy(policy, owners.get(policy.name) ?? null), version: policy.version };
}

/** Agents of a policy whose clients have never requested controls, in words; null for none. */
export function clientsOf(agents: number): string | null {
  if (agents === 0) return null;
  return agents === 1
    ? 'the client of 1 agent with the policy'
    : `each client of ${agents} agents with the policy`;
}

/** The row of a policy of the namespace. Throws POLICY_NOT_FOUND. */
export async function existingPolicy(scope: Scoped, policyId: number): Promise<PolicyRow> {
  const row = await createPolicyStore(scope).find(policyId);
  if (row === null) throw policyNotFound(policyId);
  return row;
}

/** The same in the transaction of a change. Throws POLICY_NOT_FOUND, or VERSION_MISMATCH. */
export async function demandedPolicy(
  scope: Scoped,
  policyId: number,
  ifVersion: IfVersion,
): Promise<PolicyRow> {
  const policy = await existingPolicy(scope, policyId);
  demandVersion(ifVersion, { kind: 'Policy', name: String(policy.id), version: policy.version });
  return policy;
}
