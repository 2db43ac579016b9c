import type { CallContext } from '../../contract/call/handler.js';
import { callerError, type ErrorItem, type ServiceError } from '../../contract/errors/service-error.js';
import type { IfVersion } from '../../contract/input/if-version.js';
import { listed, type Warning } from '../../contract/warnings/warning.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { namedAgents } from '../../storage/database/audit-log.js';
import type { Mutator } from '../../storage/database/mutator.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { createAgentPolicyStore } from '../agents/agent-policy-store.js';
import { readStoredRegistration } from '../agents/agent-schemas.js';
import { createAgentStore, type KnownAgent } from '../agents/agent-store.js';
import {
  compatibilityProblems,
  dependsOnAgent,
  policyControlIncompatible,
  readCandidates,
} from '../agents/control-compatibility.js';
import { keysOf } from '../agents/named-agent.js';
import { appliedLinkWarnings } from '../controls/applied-warnings.js';
import { reviewLink } from '../controls/link-warnings.js';
import { createPolicyControlStore } from '../controls/policy-control-store.js';
import { demandPolicyOfOwnAgents } from '../controls/shared-with-caller.js';
import { demandedPolicy, existingPolicy } from './existing-policy.js';
import { policyFact } from './policy-audit.js';
import { clientsOf } from './policy-controls.js';
import { policyOfEveryAgent } from './policy-errors.js';
import { demandOthers } from './policy-labels.js';

/** Problems that are listed in all, and of one agent. */
const MAX_ITEMS = 100;
const MAX_ITEMS_PER_AGENT = 10;

export interface PolicyAgentsOptions {
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
}

export type PolicyAgents = ReturnType<typeof createPolicyAgents>;

/**
 * Assigns a policy to many agents, and removes it, in one change. Every method throws POLICY_NOT_FOUND, or
 * AGENT_NOT_FOUND with an item for each unknown agent. Names are normalised.
 */
export function createPolicyAgents({ mutate, registry }: PolicyAgentsOptions) {
  return {
    /** Throws VERSION_MISMATCH, or POLICY_CONTROL_INCOMPATIBLE with every reason why an agent cannot run a control. */
    async add(context: CallContext, policyId: number, agentNames: readonly string[], ifVersion: IfVersion) {
      const given = await mutate(context, async (scope) => {
        await demandPolicyOfOwnAgents(scope, context.principal.agents, policyId);
        const policy = await demandedPolicy(scope, policyId, ifVersion);
        const agents = await existingAgents(scope, agentNames);
        const controls = await createPolicyControlStore(scope).controlsOf(policy.id);
        await demandCompatible(scope, agentNames, controls);
        const links = createAgentPolicyStore(scope);
        const owners = await links.owners(agents, policy.id, 'directly');
        const others = agents.filter(({ id }) => !owners.has(id)).map(({ name }) => name);
        const added = await links.addAll(agents, policy.id);
        const value = { agents, controls, added, applied: [] as Warning[] };
        if (added === 0) return { value, change: null };
        value.applied = await appliedLinkWarnings(scope, 'agent_names', others);
        const audit = policyFact('policy.add_agents', policy, null, namedAgents(others));
        return { value, change: changeOf(agents), audit };
      });
      const silent = given.agents.filter(({ controlsAskedAtMs }) => controlsAskedAtMs === null).length;
      const clients = clientsOf(silent);
      const warnings = given.controls.flatMap((control) => reviewLink(control, registry, clients).warnings);
      return { success: true, added: given.added, warnings: listed(warnings, given.applied) };
    },

    /** Throws POLICY_IN_USE if the policy is for every agent, or for those with labels of one of these. */
    async remove(context: CallContext, policyId: number, agentNames: readonly string[]) {
      const { removed, warnings } = await mutate(context, async (scope) => {
        await demandPolicyOfOwnAgents(scope, context.principal.agents, policyId);
        const policy = await existingPolicy(scope, policyId);
        if (policy.everyAgent) throw policyOfEveryAgent(policy.name);
        const agents = await existingAgents(scope, agentNames);
        await demandOthers(scope, policy, agents);
        const links = createAgentPolicyStore(scope);
        const found = await links.owners(agents, policy.id, 'anyhow');
        const owners = agents.filter(({ id }) => found.has(id)).map(({ name }) => name);
        const count = await links.removeFrom(agents, policy.id);
        if (count === 0) return { value: { removed: 0, warnings: [] }, change: null };
        const audit = policyFact('policy.remove_agents', policy, namedAgents(owners), null);
        const value = { removed: count, warnings: await appliedLinkWarnings(scope, 'agent_names', owners) };
        return { value, change: changeOf(agents), audit };
      });
      context.warn(listed(warnings));
      return { success: true, removed };
    },
  };

  /** Only controls that name evaluators of an agent, or cannot be read, depend on the registrations of agents. */
  async function demandCompatible(
    scope: Scoped,
    agentNames: readonly string[],
    controls: readonly StoredDefinition[],
  ): Promise<void> {
    const candidates = readCandidates(controls, registry).filter(dependsOnAgent);
    if (candidates.length === 0) return;
    const items: ErrorItem[] = [];
    // One by one: registrations may be large.
    for (const [index, name] of agentNames.entries()) {
      if (agentNames.indexOf(name) < index) continue;
      const data = (await createAgentStore(scope).find(name))?.data ?? '';
      const problems = compatibilityProblems(readStoredRegistration(data), name, candidates);
      for (const { message } of problems.slice(0, MAX_ITEMS_PER_AGENT)) {
        items.push({ resource: 'Agent', field: `agent_names[${index}]`, code: 'incompatible', message });
      }
      if (items.length >= MAX_ITEMS) break;
    }
    if (items.length > 0) throw policyControlIncompatible(items.slice(0, MAX_ITEMS));
  }
}

function changeOf(agents: readonly KnownAgent[]) {
  return { agents: keysOf(agents) };
}

async function existingAgents(scope: Scoped, agentNames: readonly string[]): Promise<KnownAgent[]> {
  const rows = await createAgentStore(scope).findAll(agentNames);
  const known = new Set(rows.map(({ name }) => name));
  const missing = [...agentNames.entries()].filter(([, name]) => !known.has(name));
  if (missing.length > 0) throw agentsNotFound(missing);
  return rows;
}

function agentsNotFound(missing: readonly (readonly [index: number, name: string])[]): ServiceError {
  const [, first = ''] = missing[0] ?? [];
  const others = missing.length === 1 ? '' : `, and ${missing.length - 1} more of the list were not found`;
  return callerError('AGENT_NOT_FOUND', {
    detail: `Agent "${first}" was not found${others}.`,
    hint: 'Register the agents with initAgent first.',
    name: first,
    kind: 'Agent',
    items: missing.map(([index, name]) => ({
      resource: 'Agent',
      field: `agent_names[${index}]`,
      code: 'not_found',
      message: `agent "${name}" was not found`,
    })),
  });
}
