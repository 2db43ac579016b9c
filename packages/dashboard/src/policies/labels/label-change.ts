import { createClient } from '@connectrpc/connect';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useQuery } from '@tanstack/react-query';
import { queriesOf } from '../../data/touched.js';
import { transport } from '../../data/transport.js';
import { readAll } from '../../ui/list/read-all.js';

const agents = createClient(AgentService, transport);
const policies = createClient(PolicyService, transport);
const PAGE_SIZE = 100;

/** What other labels of a policy mean for agents. */
export interface LabelChange {
  /** Number of agents that match the labels. */
  readonly matching: number;
  /** Names of agents that match them and do not have the policy. */
  readonly gain: readonly string[];
  /** Names of agents that have the policy by its present labels and do not match the others. */
  readonly lose: readonly string[];
}

/** Finds out which agents would get a policy by labels, and which would lose it. */
export function useLabelChange(policy: Policy, labels: readonly string[]) {
  return useQuery({
    queryKey: [...queriesOf(AgentService), 'labels of policy', policy.id, String(policy.version), labels],
    queryFn: ({ signal }) => readLabelChange(policy.id, labels, signal),
  });
}

async function readLabelChange(
  policyId: number,
  labels: readonly string[],
  signal: AbortSignal,
): Promise<LabelChange> {
  const page = (cursor: string | undefined) => ({
    limit: PAGE_SIZE,
    ...(cursor === undefined ? {} : { cursor }),
  });
  // No labels match no agent, where a list without labels has all agents.
  const matching =
    labels.length === 0
      ? []
      : await readAll(
          (cursor) => agents.listAgents({ labels: [...labels], ...page(cursor) }, { signal }),
          (reply) => reply.agents,
          { signal },
        );
  const present = await readAll(
    (cursor) => policies.listPolicyAgents({ policyId, ...page(cursor) }, { signal }),
    (reply) => reply.agents,
    { signal },
  );
  const matches = new Set(matching.map(({ agentName }) => agentName));
  const has = new Set(present.map(({ agentName }) => agentName));
  return {
    matching: matches.size,
    gain: [...matches].filter((name) => !has.has(name)).sort(),
    lose: present
      .filter(({ agentName, byLabels }) => byLabels && !matches.has(agentName))
      .map(({ agentName }) => agentName),
  };
}
