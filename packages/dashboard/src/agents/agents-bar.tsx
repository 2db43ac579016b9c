import type { AgentSummary } from '@gen/enforcement/v1/agent_service_pb.js';
import { useState } from 'react';
import { SelectionBar } from '../ui/table/selection-bar.js';
import type { Selection } from '../ui/table/use-selection.js';
import type { AgentFilter } from './agent-query.js';
import { AgentsPolicyDialog } from './agents-policy-dialog.js';

interface AgentsBarProps {
  /** The loaded agents. */
  readonly shown: readonly AgentSummary[];
  /** Number of agents that match the filters. */
  readonly total: number;
  readonly filter: AgentFilter;
  readonly selection: Selection<AgentSummary>;
}

/** Selects agents, and gives policies to the selected ones or takes them away. */
export function AgentsBar({ shown, total, filter, selection }: AgentsBarProps) {
  const [verb, setVerb] = useState<'add' | 'remove' | null>(null);
  return (
    <>
      {shown.length > 0 && (
        <SelectionBar selection={selection} shown={shown} total={total} what="agent">
          <button type="button" onClick={() => setVerb('add')}>
            Add to a policy…
          </button>
          <button type="button" onClick={() => setVerb('remove')}>
            Remove from a policy…
          </button>
        </SelectionBar>
      )}
      {verb !== null && (
        <AgentsPolicyDialog
          verb={verb}
          count={selection.count(shown, total)}
          chosen={{ shown: shown.filter(selection.has), filter, selection }}
          onClose={(isDone) => {
            setVerb(null);
            if (isDone) selection.choose([]);
          }}
        />
      )}
    </>
  );
}
