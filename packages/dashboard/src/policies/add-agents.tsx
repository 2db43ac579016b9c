import { useInfiniteQuery } from '@connectrpc/connect-query';
import { AgentService, type AgentSummary } from '@gen/enforcement/v1/agent_service_pb.js';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useState } from 'react';
import { FILTERED_BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { useRefresh } from '../data/use-change.js';
import { AGENT_COLUMN } from '../references/columns.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { numberOf } from '../ui/numbers.js';
import { PickMany, PickManyButton } from '../ui/pick-many/pick-many.js';
import type { Columns } from '../ui/table/columns.js';
import { UserText } from '../ui/user-text.js';
import { addAgents, agentsNamed } from './policy-members.js';

const MAX_LABELS = 60;
const COLUMNS: Columns<AgentSummary> = [
  AGENT_COLUMN,
  {
    head: 'Labels',
    cell: ({ labels }) => (
      <UserText
        text={
          Object.entries(labels)
            .map(([name, value]) => `${name}=${value}`)
            .join(', ') || '–'
        }
        max={MAX_LABELS}
      />
    ),
  },
];

interface AddAgentsProps {
  readonly policy: Policy;
}

/** Finds agents by name and gives them the policy. */
export function AddAgents({ policy }: AddAgentsProps) {
  return (
    <PickManyButton title="Add agents">
      {(onClose) => <AddAgentsDialog policy={policy} onClose={onClose} />}
    </PickManyButton>
  );
}

function AddAgentsDialog({ policy, onClose }: AddAgentsProps & { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const name = useDebounced(text).trim();
  const query = useInfiniteQuery(
    AgentService.method.listAgents,
    { ...FIRST_PAGE, ...(name === '' ? {} : { name }) },
    FILTERED_BY_CURSOR,
  );
  const refresh = useRefresh();
  return (
    <PickMany
      title="Add agents"
      what="agent"
      onClose={onClose}
      search={{ text, setText, error: null }}
      query={query}
      rowsOf={({ agents }) => agents}
      keyOf={({ agentName }) => agentName}
      nameOf={({ agentName }) => agentName}
      columns={COLUMNS}
      isThere={({ policyIds }) => policyIds.includes(policy.id)}
      readAll={(signal) => agentsNamed(name, signal)}
      onAdd={async (agents, { onProgress }) => {
        const names = agents.map(({ agentName }) => agentName);
        await addAgents(policy.id, names, onProgress).finally(() =>
          refresh(PolicyService.method.addPolicyAgents),
        );
      }}
    >
      <p>
        They are checked by the {numberOf(policy.controlIds.length, 'control')} of <bdi>{policy.name}</bdi> at
        once.
      </p>
    </PickMany>
  );
}
