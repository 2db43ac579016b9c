import type { CallContext } from '../../contract/call/handler.js';
import { type PageAsked, paginationOf } from '../../contract/call/page.js';
import type { IfVersion } from '../../contract/input/if-version.js';
import { MAX_ERROR_ITEMS } from '../../contract/input/items.js';
import { namedAgents } from '../../storage/database/audit-log.js';
import { MAX_LISTED_AGENTS } from '../../storage/database/change-log.js';
import { scopeOf } from '../../storage/database/scoped.js';
import type { DemandedLabel } from '../agents/agent-labels.js';
import { keysOf, namesOf } from '../agents/named-agent.js';
import { createPolicyControlStore } from '../controls/policy-control-store.js';
import { demandForAnyAgent } from './any-agent.js';
import {
  changeWarnings,
  demandedPolicy,
  existingPolicy,
  printedPolicies,
  replyOf,
} from './existing-policy.js';
import { policyFact } from './policy-audit.js';
import { createPolicyControls, type PolicyControlsOptions } from './policy-controls.js';
import { policyInUse, policyNameConflict } from './policy-errors.js';
import { setLabels } from './policy-labels.js';
import { createPolicyStore, type PolicyFilters } from './policy-store.js';

export interface PolicyServiceOptions extends PolicyControlsOptions {
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

/** Creates, reads, changes and deletes policies. */
export function createPolicyService(options: PolicyServiceOptions) {
  const { database, mutate, registry, now, catchUpLabels } = options;
  return {
    ...createPolicyControls(options),

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
  };
}
