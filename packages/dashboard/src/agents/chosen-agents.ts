import { createClient, type Transport } from '@connectrpc/connect';
import { AgentService, type AgentSummary } from '@gen/enforcement/v1/agent_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { readAll } from '../ui/list/read-all.js';
import type { Selection } from '../ui/table/use-selection.js';
import type { AgentFilter } from './agent-query.js';

const PAGE_SIZE = 100;
/** Most agents of one change. */
const AT_ONCE = 1_000;

/** The agents that are selected in a list. */
export interface ChosenAgents {
  /** Those of them that are loaded. */
  readonly shown: readonly AgentSummary[];
  readonly filter: AgentFilter;
  readonly selection: Selection<AgentSummary>;
}

/** The names of the selected agents. If all that match are selected, the list is read to its end first. */
export async function chosenNames(
  transport: Transport,
  { shown, filter, selection }: ChosenAgents,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (!selection.isAll) return shown.map(({ agentName }) => agentName);
  const client = createClient(AgentService, transport);
  const all = await readAll(
    (cursor) =>
      client.listAgents(
        { ...filter, limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) },
        { signal },
      ),
    ({ agents }) => agents,
    { signal },
  );
  return all.filter(selection.has).map(({ agentName }) => agentName);
}

export interface PolicyChange {
  readonly verb: 'add' | 'remove';
  readonly policyId: number;
  readonly agentNames: readonly string[];
}

/** Gives a policy to agents, or takes it from them. Returns how many of them that changes. */
export async function changePolicyOf(
  transport: Transport,
  { verb, policyId, agentNames }: PolicyChange,
): Promise<number> {
  const client = createClient(PolicyService, transport);
  let changed = 0;
  for (let at = 0; at < agentNames.length; at += AT_ONCE) {
    const part = { policyId, agentNames: agentNames.slice(at, at + AT_ONCE) };
    changed +=
      verb === 'add'
        ? (await client.addPolicyAgents(part)).added
        : (await client.removePolicyAgents(part)).removed;
  }
  return changed;
}
