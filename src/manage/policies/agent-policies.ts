import type { CallContext } from '../../contract/call/handler.js';
import { listed, type Warning } from '../../contract/warnings/warning.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Database } from '../../storage/database/database.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import { agentFact } from '../agents/agent-audit.js';
import { agentLinkWarnings } from '../agents/agent-link-warnings.js';
import { createAgentPolicyStore } from '../agents/agent-policy-store.js';
import { readStoredRegistration } from '../agents/agent-schemas.js';
import type { AgentRow } from '../agents/agent-store.js';
import {
  compatibilityProblems,
  policyControlIncompatible,
  readCandidates,
} from '../agents/control-compatibility.js';
import { existingAgent } from '../agents/existing-agent.js';
import { appliedLinkWarnings } from '../controls/applied-warnings.js';
import { createPolicyControlStore } from '../controls/policy-control-store.js';
import { demandPolicyOfOwnAgents } from '../controls/shared-with-caller.js';
import { existingPolicy, printedPolicies } from './existing-policy.js';
import { policyLink } from './policy-audit.js';
import { agentWithoutPolicy, policyOfEveryAgent } from './policy-errors.js';
import { demandOthers } from './policy-labels.js';
import { createPolicyStore, type PolicyRow } from './policy-store.js';

export interface AgentPoliciesOptions {
  readonly database: Database;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
}

export type AgentPolicies = ReturnType<typeof createAgentPolicies>;

/** Assigns policies to agents and removes them. Every method throws AGENT_NOT_FOUND. */
export function createAgentPolicies({ database, mutate, registry }: AgentPoliciesOptions) {
  return {
    /** The policies of an agent, and their ids, ascending. */
    async list(context: CallContext, agentName: string) {
      const scope = scopeOf(context, database.client);
      const agent = await existingAgent(scope, agentName);
      const policies = await createPolicyStore(scope).ofAgent(agent.id);
      return { policy_ids: policies.map(({ id }) => id), policies: await printedPolicies(scope, policies) };
    },

    /** Throws POLICY_NOT_FOUND, or POLICY_CONTROL_INCOMPATIBLE; an assigned policy is checked again. */
    async add(context: CallContext, agentName: string, policyId: number) {
      const given = await mutate(context, async (scope) => {
        await demandPolicyOfOwnAgents(scope, context.principal.agents, policyId);
        const agent = await existingAgent(scope, agentName);
        const policy = await existingPolicy(scope, policyId);
        const controls = await compatibleControls(scope, registry, agent, policy);
        const added = await createAgentPolicyStore(scope).add(agent.id, policy.id);
        const value = { agent, controls, applied: [] as Warning[] };
        if (!added) return { value, change: null };
        value.applied = await appliedLinkWarnings(scope, 'agent_name', [agent.name]);
        const audit = agentFact('agent.add_policy', agent.name, null, policyLink(policy));
        return { value, change: { agents: [agent.key] }, audit };
      });
      const warnings = agentLinkWarnings(given.agent, given.controls, registry);
      return { success: true, warnings: listed(warnings, given.applied) };
    },

    /** Throws POLICY_NOT_FOUND, or POLICY_IN_USE if the policy is for every agent, or for those with labels of this one. */
    async remove(context: CallContext, agentName: string, policyId: number) {
      const warnings = await mutate<Warning[]>(context, async (scope) => {
        await demandPolicyOfOwnAgents(scope, context.principal.agents, policyId);
        const agent = await existingAgent(scope, agentName);
        const policy = await existingPolicy(scope, policyId);
        if (policy.everyAgent) throw policyOfEveryAgent(policy.name);
        await demandOthers(scope, policy, [agent]);
        const removed = await createAgentPolicyStore(scope).remove(agent.id, policy.id);
        if (!removed) return { value: [], change: null };
        const audit = agentFact('agent.remove_policy', agent.name, policyLink(policy), null);
        const value = await appliedLinkWarnings(scope, 'agent_name', [agent.name]);
        return { value, change: { agents: [agent.key] }, audit };
      });
      context.warn(warnings);
      return { success: true };
    },

    /** Removes all policies of an agent but those for every agent and by labels; succeeds when it has none. */
    async removeAll(context: CallContext, agentName: string) {
      await removeAllOf(context, agentName);
      return { success: true };
    },

    /** The same for older clients. Throws POLICY_NOT_FOUND when it has none. */
    async demandAndRemoveAll(context: CallContext, agentName: string) {
      await removeAllOf(context, agentName, { atLeastOne: true });
      return { success: true };
    },

    /** The lowest id of the policies of an agent. Throws POLICY_NOT_FOUND when it has none. */
    async lowest(context: CallContext, agentName: string) {
      const scope = scopeOf(context, database.client);
      const agent = await existingAgent(scope, agentName);
      const [lowest] = await policyIds(scope, agent);
      if (lowest === undefined) throw agentWithoutPolicy(agent.name);
      return { policy_id: lowest };
    },

    /**
     * Replaces all policies of an agent, but those for every agent and by labels, by one. Throws POLICY_NOT_FOUND or
     * POLICY_CONTROL_INCOMPATIBLE.
     */
    async replaceBy(context: CallContext, agentName: string, policyId: number) {
      const given = await mutate(context, async (scope) => {
        await demandPolicyOfOwnAgents(scope, context.principal.agents, policyId);
        const agent = await existingAgent(scope, agentName);
        const policy = await existingPolicy(scope, policyId);
        const controls = await compatibleControls(scope, registry, agent, policy);
        const before = await policyIds(scope, agent);
        const store = createAgentPolicyStore(scope);
        const removed = await store.removeAll(agent.id, policy.id);
        const added = await store.add(agent.id, policy.id);
        const value = { agent, controls, lowest: before[0] ?? null, applied: [] as Warning[] };
        if (removed === 0 && !added) return { value, change: null };
        value.applied = await appliedLinkWarnings(scope, 'agent_name', [agent.name]);
        const after = { policy_ids: await policyIds(scope, agent) };
        const audit = agentFact('agent.set_policy', agent.name, { policy_ids: before }, after);
        return { value, change: { agents: [agent.key] }, audit };
      });
      const warnings = listed(agentLinkWarnings(given.agent, given.controls, registry), given.applied);
      return { success: true, old_policy_id: given.lowest, warnings };
    },
  };

  async function removeAllOf(context: CallContext, agentName: string, { atLeastOne = false } = {}) {
    const warnings = await mutate<Warning[]>(context, async (scope) => {
      const agent = await existingAgent(scope, agentName);
      const before = await policyIds(scope, agent);
      if (atLeastOne && before.length === 0) throw agentWithoutPolicy(agent.name);
      if (before.length === 0) return { value: [], change: null };
      const removed = await createAgentPolicyStore(scope).removeAll(agent.id);
      if (removed === 0) return { value: [], change: null };
      const after = { policy_ids: await policyIds(scope, agent) };
      const audit = agentFact('agent.remove_policies', agent.name, { policy_ids: before }, after);
      const value = await appliedLinkWarnings(scope, 'agent_name', [agent.name]);
      return { value, change: { agents: [agent.key] }, audit };
    });
    context.warn(warnings);
  }
}

async function policyIds(scope: Scoped, agent: AgentRow): Promise<number[]> {
  const found = await createAgentPolicyStore(scope).policyIdsOf([agent.id]);
  return found.get(agent.id) ?? [];
}

/**
 * The controls of a policy. Throws POLICY_CONTROL_INCOMPATIBLE with every reason why the agent cannot run some of
 * them.
 */
async function compatibleControls(
  scope: Scoped,
  registry: EvaluatorRegistry,
  agent: AgentRow,
  policy: PolicyRow,
): Promise<StoredDefinition[]> {
  const controls = await createPolicyControlStore(scope).controlsOf(policy.id);
  const registration = readStoredRegistration(agent.data);
  const problems = compatibilityProblems(registration, agent.name, readCandidates(controls, registry));
  if (problems.length > 0) throw policyControlIncompatible(problems);
  return controls;
}
