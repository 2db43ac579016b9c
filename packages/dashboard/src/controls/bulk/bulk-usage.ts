import { createClient } from '@connectrpc/connect';
import { ControlService, type ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { useQuery } from '@tanstack/react-query';
import { queriesOf } from '../../data/touched.js';
import { transport } from '../../data/transport.js';
import { runBulk } from './run-bulk.js';

const client = createClient(ControlService, transport);
const PAGE_SIZE = 100;
/** Most pages of agents or policies that are read of one control. */
const MAX_PAGES = 10;

/** Who uses at least one of some controls. */
export interface BulkUsage {
  readonly agents: number;
  readonly policies: number;
  /** False if there may be more. */
  readonly isComplete: boolean;
}

/** Most controls whose agents and policies are counted: each of them costs two requests. */
export const MAX_COUNTED = 200;

/** Counts the agents and policies of some controls, each once. Nothing of too many controls. */
export function useBulkUsage(controls: readonly ControlSummary[]) {
  const ids = controls.map(({ id }) => id);
  return useQuery({
    enabled: ids.length <= MAX_COUNTED,
    queryKey: [...queriesOf(ControlService), 'usage', ids],
    queryFn: ({ signal }) => readUsage(ids, signal),
  });
}

async function readUsage(ids: readonly number[], signal: AbortSignal): Promise<BulkUsage> {
  const agents = new Set<string>();
  const policies = new Set<number>();
  let isComplete = true;
  const read = async (controlId: number): Promise<void> => {
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const reply = await client.listControlAgents(
        { controlId, limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) },
        { signal },
      );
      for (const { agentName } of reply.agents) agents.add(agentName);
      cursor = reply.pagination?.nextCursor;
      if (cursor === undefined) break;
    }
    const reply = await client.listControlPolicies({ controlId, limit: PAGE_SIZE }, { signal });
    for (const { id } of reply.policies) policies.add(id);
    if (cursor !== undefined || reply.pagination?.hasMore) isComplete = false;
  };
  const results = await runBulk({ items: ids, act: read, signal });
  // A control that is deleted meanwhile has no users.
  return {
    agents: agents.size,
    policies: policies.size,
    isComplete: isComplete && !signal.aborted && results.every(({ kind }) => kind === 'done'),
  };
}
