import { useInfiniteQuery } from '@connectrpc/connect-query';
import { type Policy, type PolicyAgent, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { useChange } from '../data/use-change.js';
import { AGENT_COLUMN } from '../references/columns.js';
import { useMay } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { List } from '../ui/list/list.js';
import { numberOf } from '../ui/numbers.js';
import { Empty } from '../ui/states.js';
import { SelectionBar, selectColumn } from '../ui/table/selection-bar.js';
import { useSelection } from '../ui/table/use-selection.js';
import { policyAgentsUndo } from '../undo/link-undo.js';
import { offerUndo } from '../undo/undo-store.js';
import { AddAgents } from './add-agents.js';
import { PolicyLabels } from './labels/policy-labels.js';
import { RemoveAgents } from './remove-agents.js';

const nameOf = ({ agentName }: PolicyAgent) => agentName;

/** The agents that have a policy: by labels, or because they were added. An admin adds and removes several at once. */
export function PolicyAgents({ policy }: { readonly policy: Policy }) {
  const mayChange = useMay('agents.write');
  const selection = useSelection(nameOf, '');
  const query = useInfiniteQuery(
    PolicyService.method.listPolicyAgents,
    { policyId: policy.id, ...FIRST_PAGE },
    BY_CURSOR,
  );
  const canRemove = ({ byLabels }: PolicyAgent) => !byLabels && !policy.everyAgent;
  return (
    <>
      <PolicyLabels policy={policy} />
      {mayChange && (
        <p className="links">
          <AddAgents policy={policy} />
        </p>
      )}
      <List
        label="Agents with this policy"
        what="agents"
        query={query}
        rowsOf={({ agents }) => agents}
        keyOf={nameOf}
        rowClass={(agent) => (mayChange && selection.has(agent) ? 'selected' : undefined)}
        empty={<NoAgents mayChange={mayChange} />}
        above={(agents, total) => {
          const removable = agents.filter(canRemove);
          return (
            mayChange &&
            removable.length > 0 && (
              <SelectionBar selection={selection} shown={removable} total={total} what="agent">
                <RemoveAgents
                  policy={policy}
                  selection={selection}
                  shown={removable}
                  count={selection.count(removable, total)}
                />
              </SelectionBar>
            )
          );
        }}
        columns={[
          mayChange && !policy.everyAgent && selectColumn(selection, nameOf, canRemove),
          AGENT_COLUMN,
          { head: 'Through', cell: ({ byLabels }) => wayOf(policy, byLabels) },
          mayChange && {
            head: 'Action',
            cell: (agent) => canRemove(agent) && <RemoveAgent policy={policy} agentName={agent.agentName} />,
          },
        ]}
      />
    </>
  );
}

/** Why an agent has the policy. */
function wayOf({ everyAgent }: Policy, byLabels: boolean): string {
  if (everyAgent) return 'every agent has it';
  return byLabels ? 'its labels' : 'added';
}

function NoAgents({ mayChange }: { readonly mayChange: boolean }) {
  return (
    <Empty title="No agent has this policy">
      {mayChange && <p>Add agents, or give it by labels: then agents get it when they are registered.</p>}
    </Empty>
  );
}

interface RemoveAgentProps {
  readonly policy: Policy;
  readonly agentName: string;
}

function RemoveAgent({ policy, agentName }: RemoveAgentProps) {
  const remove = useChange(PolicyService.method.removePolicyAgents);
  return (
    <ConfirmButton
      verb="Remove"
      object={agentName}
      change={remove}
      onConfirm={() =>
        remove
          .mutateAsync({ policyId: policy.id, agentNames: [agentName] })
          .then(() => offerUndo(policyAgentsUndo(policy, [agentName])))
      }
    >
      <p>It is no longer checked by the {numberOf(policy.controlIds.length, 'control')} of this policy.</p>
    </ConfirmButton>
  );
}
