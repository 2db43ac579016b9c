import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { Link } from 'wouter';
import { useChange } from '../data/use-change.js';
import { useNameSearch } from '../data/use-name-search.js';
import { POLICY_COLUMN } from '../references/columns.js';
import { useIsLimited, useMay } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { SearchToAdd } from '../ui/fields/search-to-add.js';
import { numberOf } from '../ui/numbers.js';
import { Empty, QueryState } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';
import { Warnings } from '../ui/warnings.js';
import { policyAgentsUndo } from '../undo/link-undo.js';
import { offerUndo } from '../undo/undo-store.js';
import { controlsOnlyBy } from './control-origins.js';
import { useAgentLinks } from './use-agent-links.js';
import './agents.css';

/** The policies of an agent, and a form that adds one. */
export function AgentPolicies({ agentName }: { readonly agentName: string }) {
  const mayChange = useMay('agents.write');
  const isLimited = useIsLimited();
  const links = useAgentLinks(agentName);
  return (
    <QueryState query={links} what="policies">
      {({ policies, origins }) => {
        const onlyBy = ({ id }: Policy) => controlsOnlyBy(id, origins).length;
        return (
          <>
            {mayChange && !isLimited && <AddPolicy agentName={agentName} policies={policies} />}
            <Table
              label="Policies of the agent"
              rows={policies}
              keyOf={({ id }) => id}
              empty={<NoPolicies />}
              columns={[
                POLICY_COLUMN,
                { head: 'Controls', className: 'number', cell: ({ controlIds }) => controlIds.length },
                { head: 'Only by this policy', className: 'number', cell: onlyBy },
                { head: 'Agents with it', className: 'number', cell: ({ agentCount }) => agentCount },
                mayChange && {
                  head: 'Action',
                  cell: (policy) => (
                    <RemovePolicy agentName={agentName} policy={policy} lost={onlyBy(policy)} />
                  ),
                },
              ]}
            />
          </>
        );
      }}
    </QueryState>
  );
}

function NoPolicies() {
  return (
    <Empty title="The agent has no policy">
      <p>
        A policy is a named set of controls for any number of agents. See all{' '}
        <Link href="/policies">policies</Link>.
      </p>
    </Empty>
  );
}

interface RemovePolicyProps {
  readonly agentName: string;
  readonly policy: Policy;
  /** Number of controls that the agent has by this policy alone. */
  readonly lost: number;
}

function RemovePolicy({ agentName, policy, lost }: RemovePolicyProps) {
  const remove = useChange(PolicyService.method.removeAgentPolicy);
  const kept = policy.controlIds.length - lost;
  return (
    <ConfirmButton
      verb="Remove"
      object={policy.name}
      change={remove}
      onConfirm={() =>
        remove
          .mutateAsync({ agentName, policyId: policy.id })
          .then(() => offerUndo(policyAgentsUndo(policy, [agentName])))
      }
    >
      <p>
        <UserText text={agentName} /> loses {numberOf(lost, 'control')}.
        {kept > 0 &&
          ` It keeps ${numberOf(kept, 'control')} of the policy by a direct link or another policy.`}{' '}
        The policy itself and its other agents are not changed.
      </p>
    </ConfirmButton>
  );
}

interface AddPolicyProps {
  readonly agentName: string;
  readonly policies: readonly Policy[];
}

function AddPolicy({ agentName, policies }: AddPolicyProps) {
  const search = useNameSearch(PolicyService.method.listPolicies);
  const add = useChange(PolicyService.method.addAgentPolicy);
  const own = new Set(policies.map(({ id }) => id));
  const others = (search.data?.policies ?? []).filter(({ id }) => !own.has(id));
  return (
    <>
      <SearchToAdd
        what="policy"
        search={search}
        found={others.map(({ id, name }) => [String(id), name] as const)}
        change={add}
        onAdd={(id) => add.mutateAsync({ agentName, policyId: Number(id) })}
      />
      <Warnings warnings={add.data?.warnings ?? []} />
    </>
  );
}
