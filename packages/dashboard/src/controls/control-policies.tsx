import { useInfiniteQuery, useQuery } from '@connectrpc/connect-query';
import {
  type ControlPolicy,
  ControlService,
  type GetControlResponse,
} from '@gen/enforcement/v1/control_service_pb.js';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { OwnedNote } from '../control-parts/owned-note.js';
import { BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { useChange } from '../data/use-change.js';
import { useNameSearch } from '../data/use-name-search.js';
import { POLICY_COLUMN } from '../references/columns.js';
import { useMay } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { SearchToAdd } from '../ui/fields/search-to-add.js';
import { List } from '../ui/list/list.js';
import { numberOf } from '../ui/numbers.js';
import { Empty } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';
import { Warnings } from '../ui/warnings.js';
import { policyControlUndo } from '../undo/link-undo.js';
import { offerUndo } from '../undo/undo-store.js';

interface ControlProps {
  readonly control: GetControlResponse;
}

interface PolicyProps {
  readonly policy: ControlPolicy;
}

/** The policies that contain a control; an admin adds it and removes it. */
export function ControlPolicies({ control }: ControlProps) {
  const mayChange = useMay('policies.write');
  const query = useInfiniteQuery(
    ControlService.method.listControlPolicies,
    { controlId: control.id, ...FIRST_PAGE },
    BY_CURSOR,
  );
  return (
    <>
      {mayChange && <AddToPolicy control={control} />}
      <List
        label="Policies that contain this control"
        what="policies"
        query={query}
        rowsOf={({ policies }) => policies}
        keyOf={({ id }) => id}
        empty={
          <Empty title="No policy contains this control">
            <p>A policy is a set of controls that is given to agents as a whole.</p>
          </Empty>
        }
        columns={[
          POLICY_COLUMN,
          { head: 'Agents', className: 'number', cell: (policy) => <AgentCount policy={policy} /> },
          mayChange && {
            head: 'Action',
            cell: (policy) => <RemoveFromPolicy control={control} policy={policy} />,
          },
        ]}
      />
    </>
  );
}

function usePolicy({ id }: ControlPolicy): Policy | undefined {
  return useQuery(PolicyService.method.getPolicy, { policyId: id }).data?.policy;
}

function AgentCount({ policy }: PolicyProps) {
  return usePolicy(policy)?.agentCount.toLocaleString() ?? '…';
}

function RemoveFromPolicy({ control, policy }: ControlProps & PolicyProps) {
  const { agentCount, owner } = usePolicy(policy) ?? {};
  const remove = useChange(PolicyService.method.removePolicyControl);
  return (
    <ConfirmButton
      verb="Remove from"
      object={policy.name}
      label="Remove"
      change={remove}
      onConfirm={() =>
        remove
          .mutateAsync({ policyId: policy.id, controlId: control.id })
          .then(() => offerUndo(policyControlUndo(policy, control)))
      }
    >
      <p>
        <UserText text={control.name} /> no longer checks the steps of{' '}
        {agentCount === undefined ? '… agents' : numberOf(agentCount, 'agent')} with this policy, unless it is
        linked to them in another way.
      </p>
      <OwnedNote what="policy" owner={owner} />
    </ConfirmButton>
  );
}

function AddToPolicy({ control }: ControlProps) {
  const search = useNameSearch(PolicyService.method.listPolicies);
  const add = useChange(PolicyService.method.addPolicyControl);
  const others = (search.data?.policies ?? []).filter(({ controlIds }) => !controlIds.includes(control.id));
  return (
    <>
      <SearchToAdd
        what="policy"
        search={search}
        found={others.map(
          ({ id, name, agentCount }) => [String(id), `${name} (${numberOf(agentCount, 'agent')})`] as const,
        )}
        change={add}
        onAdd={(id) => add.mutateAsync({ policyId: Number(id), controlId: control.id })}
      />
      <Warnings warnings={add.data?.warnings ?? []} />
    </>
  );
}
