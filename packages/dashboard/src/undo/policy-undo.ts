import { ConnectError, createClient } from '@connectrpc/connect';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { transport } from '../data/transport.js';
import { numberOf } from '../ui/numbers.js';
import { allPages } from './control-undo.js';
import type { UndoOffer, UndoResult } from './undo-store.js';

const policies = createClient(PolicyService, transport);
const PAGE = 100;
/** Agents that one call can add. */
const BATCH = 1_000;

/** Everything that a deleted policy can be created again from. */
export interface PolicyRemains {
  readonly policy: Policy;
  /** Those that have it by their labels come by themselves. */
  readonly agentNames: readonly string[];
}

/** Reads what a policy consists of; null if that cannot be created again. */
export async function readPolicyRemains(policy: Policy): Promise<PolicyRemains | null> {
  const agents = await allPages(
    (cursor) => policies.listPolicyAgents({ policyId: policy.id, limit: PAGE, ...cursor }),
    (page) => page.agents,
  );
  if (agents === null) return null;
  return { policy, agentNames: agents.filter(({ byLabels }) => !byLabels).map(({ agentName }) => agentName) };
}

/** For a policy that was deleted. Its number is not that of before, which is said. */
export function policyDeleteUndo(remains: PolicyRemains): UndoOffer {
  const { name } = remains.policy;
  return {
    text: `${name} was deleted. Undo creates it again with its controls and agents, under a new number.`,
    change: PolicyService.method.deletePolicy,
    undo: () => createAgain(remains),
  };
}

async function createAgain({ policy, agentNames }: PolicyRemains): Promise<UndoResult> {
  const { name, controlIds, everyAgent, agentLabels } = policy;
  const { policyId } = await policies.createPolicy({ name });
  const failures: string[] = [];
  const attempt = async (work: Promise<unknown>): Promise<void> => {
    await work.catch((error: unknown) => failures.push(ConnectError.from(error).rawMessage));
  };
  for (const controlId of controlIds) await attempt(policies.addPolicyControl({ policyId, controlId }));
  for (let start = 0; start < agentNames.length; start += BATCH) {
    const batch = agentNames.slice(start, start + BATCH);
    await attempt(policies.addPolicyAgents({ policyId, agentNames: batch }));
  }
  if (everyAgent) await attempt(policies.updatePolicy({ policyId, everyAgent }));
  if (agentLabels.length > 0) {
    await attempt(policies.updatePolicy({ policyId, agentLabels: { labels: agentLabels } }));
  }
  const href = `/policies/${policyId}`;
  const [first] = failures;
  if (first === undefined) return { text: `${name} is there again, as policy ${policyId}.`, href };
  return {
    text: `${name} is there again, as policy ${policyId}, but ${numberOf(failures.length, 'part')} could not be restored: ${first}`,
    href,
  };
}
