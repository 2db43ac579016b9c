import { isDeepStrictEqual } from 'node:util';
import { MAX_ERROR_ITEMS } from '../../contract/input/items.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { namedAgents } from '../../storage/database/audit-log.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { type DemandedLabel, labelText } from '../agents/agent-labels.js';
import { keysOf, namesOf } from '../agents/named-agent.js';
import { compareTexts } from '../agents/steps-catalogue.js';
import { createPolicyControlStore } from '../controls/policy-control-store.js';
import { demandForAnyAgent } from './any-agent.js';
import { policyOfLabels } from './policy-errors.js';
import { createPolicyLabelStore } from './policy-label-store.js';
import type { PolicyRow } from './policy-store.js';

/**
 * Gives a policy to all agents with some labels, and takes it from those that have it by labels and lack these. Returns
 * its states for the audit log and the agents that got or lost it; null if nothing changed. Throws
 * POLICY_CONTROL_INCOMPATIBLE.
 */
export async function setLabels(
  scope: Scoped,
  policy: PolicyRow,
  wanted: readonly DemandedLabel[],
  registry: EvaluatorRegistry,
) {
  const labels = [...wanted].sort((a, b) => compareTexts(a.name, b.name));
  if (labels.length > 0) {
    demandForAnyAgent(await createPolicyControlStore(scope).controlsOf(policy.id), registry);
  }
  const { missing, stale } = await writeLabels(scope, policy.id, labels);
  const [before, after] = [policy.labels.map(labelText), labels.map(labelText)];
  const isSame = isDeepStrictEqual(new Set(before), new Set(after));
  if (isSame && missing.length === 0 && stale.length === 0) return null;
  return {
    before: { agent_labels: before },
    after: {
      agent_labels: after,
      given_to: namedAgents(namesOf(missing)),
      taken_from: namedAgents(namesOf(stale)),
    },
    agents: keysOf([...missing, ...stale]),
  };
}

/** The same for a policy that agents without these controls may have. Returns the agents that got it, and those that lost it. */
export async function writeLabels(scope: Scoped, policyId: number, labels: readonly DemandedLabel[]) {
  const store = createPolicyLabelStore(scope);
  await store.write(policyId, labels);
  const { missing, stale } = await store.agentsByLabels(policyId);
  await store.give(policyId);
  await store.take(policyId);
  return { missing, stale };
}

/** Throws POLICY_IN_USE if some of the agents have the labels that give them the policy. */
export async function demandOthers(
  scope: Scoped,
  policy: PolicyRow,
  agents: readonly { readonly id: number; readonly name: string }[],
): Promise<void> {
  if (policy.labels.length === 0) return;
  const matching = await createPolicyLabelStore(scope).matching(policy.id, agents);
  const names = agents.filter(({ id }) => matching.has(id)).map(({ name }) => name);
  if (names.length === 0) return;
  const labels = policy.labels.map(labelText).join(' and ');
  throw policyOfLabels(policy.name, labels, names.slice(0, MAX_ERROR_ITEMS));
}
