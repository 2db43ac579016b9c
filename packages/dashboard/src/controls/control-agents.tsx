import { useInfiniteQuery } from '@connectrpc/connect-query';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import {
  type ControlAgent,
  ControlService,
  type GetControlResponse,
} from '@gen/enforcement/v1/control_service_pb.js';
import { Link } from 'wouter';
import { BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { useChange } from '../data/use-change.js';
import { useNameSearch } from '../data/use-name-search.js';
import { AGENT_COLUMN } from '../references/columns.js';
import { useMay } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { SearchToAdd } from '../ui/fields/search-to-add.js';
import { List } from '../ui/list/list.js';
import { Empty } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';
import { Warnings } from '../ui/warnings.js';
import { unlinkUndo } from '../undo/link-undo.js';
import { offerUndo } from '../undo/undo-store.js';

interface ControlProps {
  readonly control: GetControlResponse;
}

/** The agents that a control checks, linked to it or through policies; an admin links and unlinks. */
export function ControlAgents({ control }: ControlProps) {
  const mayChange = useMay('agents.write');
  const input = { controlId: control.id, ...FIRST_PAGE };
  const agents = useInfiniteQuery(ControlService.method.listControlAgents, input, BY_CURSOR);
  const policies = useInfiniteQuery(ControlService.method.listControlPolicies, input, BY_CURSOR);
  const policyNames = new Map(
    policies.data?.pages.flatMap((page) => page.policies).map(({ id, name }) => [id, name]),
  );
  return (
    <>
      {mayChange && <LinkAgent control={control} />}
      <List
        label="Agents that use this control"
        what="agents"
        query={agents}
        rowsOf={(page) => page.agents}
        keyOf={({ agentName }) => agentName}
        empty={<NoAgents mayChange={mayChange} />}
        columns={[
          AGENT_COLUMN,
          { head: 'Through', cell: (agent) => <Ways agent={agent} policyNames={policyNames} /> },
          mayChange && {
            head: 'Action',
            cell: (agent) => agent.direct && <UnlinkAgent control={control} agent={agent} />,
          },
        ]}
      />
    </>
  );
}

interface WaysProps {
  readonly agent: ControlAgent;
  readonly policyNames: ReadonlyMap<number, string>;
}

/** How an agent got the control. */
function Ways({ agent: { direct, policyIds }, policyNames }: WaysProps) {
  return (
    <span className="ways">
      {direct && <span>direct link</span>}
      {policyIds.map((id) => (
        <Link key={id} href={`/policies/${id}`}>
          policy <UserText text={policyNames.get(id) ?? String(id)} />
        </Link>
      ))}
    </span>
  );
}

function NoAgents({ mayChange }: { readonly mayChange: boolean }) {
  return (
    <Empty title="No agent uses this control">
      <p>
        A control checks the steps of agents that are linked to it, and of agents with a policy that contains
        it.
        {mayChange && ' Link an agent above, or add the control to a policy.'}
      </p>
    </Empty>
  );
}

function LinkAgent({ control }: ControlProps) {
  const search = useNameSearch(AgentService.method.listAgents);
  const link = useChange(AgentService.method.addAgentControl);
  return (
    <>
      <SearchToAdd
        what="agent"
        search={search}
        found={(search.data?.agents ?? []).map(({ agentName }) => [agentName, agentName] as const)}
        change={link}
        onAdd={(agentName) => link.mutateAsync({ agentName, controlId: control.id })}
      />
      <Warnings warnings={link.data?.warnings ?? []} />
    </>
  );
}

interface UnlinkAgentProps extends ControlProps {
  readonly agent: ControlAgent;
}

function UnlinkAgent({ control, agent: { agentName, policyIds } }: UnlinkAgentProps) {
  const unlink = useChange(AgentService.method.removeAgentControl);
  return (
    <ConfirmButton
      verb="Unlink"
      object={agentName}
      change={unlink}
      onConfirm={() =>
        unlink
          .mutateAsync({ agentName, controlId: control.id })
          .then(() => offerUndo(unlinkUndo(agentName, control)))
      }
    >
      <p>
        {policyIds.length === 0 ? (
          <>
            The steps of this agent are no longer checked by <UserText text={control.name} />.
          </>
        ) : (
          'The agent still has this control through a policy, so its steps are checked as before.'
        )}
      </p>
    </ConfirmButton>
  );
}
