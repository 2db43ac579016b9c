import { useInfiniteQuery, useQuery } from '@connectrpc/connect-query';
import {
  type ControlPolicy,
  ControlService,
  type GetControlResponse,
} from '@gen/enforcement/v1/control_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { Link } from 'wouter';
import { BY_CURSOR } from '../data/by-cursor.js';
import { useChange } from '../data/use-change.js';
import { useNameSearch } from '../data/use-name-search.js';
import { useIsAdmin } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { SearchToAdd } from '../ui/fields/search-to-add.js';
import { LoadMore } from '../ui/list/load-more.js';
import { numberOf } from '../ui/numbers.js';
import { Empty, QueryState } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';
import { Warnings } from '../ui/warnings.js';

const PAGE_SIZE = 50;

interface ControlProps {
  readonly control: GetControlResponse;
}

/** The policies that contain a control; an admin adds it and removes it. */
export function ControlPolicies({ control }: ControlProps) {
  const isAdmin = useIsAdmin();
  const query = useInfiniteQuery(
    ControlService.method.listControlPolicies,
    { controlId: control.id, cursor: undefined, limit: PAGE_SIZE },
    BY_CURSOR,
  );
  return (
    <>
      {isAdmin && <AddToPolicy control={control} />}
      <QueryState query={query} what="policies">
        {({ pages }) => {
          const policies = pages.flatMap((page) => page.policies);
          if (policies.length === 0) {
            return (
              <Empty title="No policy contains this control">
                <p>A policy is a set of controls that is given to agents as a whole.</p>
              </Empty>
            );
          }
          return (
            <>
              <Table
                label="Policies that contain this control"
                columns={['Policy', 'Agents', ...(isAdmin ? ['Action'] : [])]}
              >
                {policies.map((policy) => (
                  <PolicyRow key={policy.id} control={control} policy={policy} isAdmin={isAdmin} />
                ))}
              </Table>
              <LoadMore {...query} shown={policies.length} total={pages[0]?.pagination?.total ?? 0} />
            </>
          );
        }}
      </QueryState>
    </>
  );
}

interface PolicyRowProps extends ControlProps {
  readonly policy: ControlPolicy;
  readonly isAdmin: boolean;
}

function PolicyRow({ control, policy, isAdmin }: PolicyRowProps) {
  const agentCount = useQuery(PolicyService.method.getPolicy, { policyId: policy.id }).data?.policy
    ?.agentCount;
  const remove = useChange(PolicyService.method.removePolicyControl);
  return (
    <tr>
      <td>
        <Link href={`/policies/${policy.id}`}>
          <UserText text={policy.name} />
        </Link>
      </td>
      <td className="number">{agentCount?.toLocaleString() ?? '…'}</td>
      {isAdmin && (
        <td>
          <ConfirmButton
            verb="Remove from"
            object={policy.name}
            label="Remove"
            change={remove}
            onConfirm={() => remove.mutateAsync({ policyId: policy.id, controlId: control.id })}
          >
            <p>
              <UserText text={control.name} /> no longer checks the steps of{' '}
              {agentCount === undefined ? '… agents' : numberOf(agentCount, 'agent')} with this policy, unless
              it is linked to them in another way.
            </p>
          </ConfirmButton>
        </td>
      )}
    </tr>
  );
}

function AddToPolicy({ control }: ControlProps) {
  const search = useNameSearch();
  const found = useQuery(PolicyService.method.listPolicies, search.request);
  const add = useChange(PolicyService.method.addPolicyControl);
  const options = (found.data?.policies ?? [])
    .filter(({ controlIds }) => !controlIds.includes(control.id))
    .map(
      ({ id, name: policy, agentCount }) =>
        [String(id), `${policy} (${numberOf(agentCount, 'agent')})`] as const,
    );
  return (
    <>
      <SearchToAdd
        what="policy"
        search={search.text}
        onSearch={search.setText}
        found={options}
        onAdd={(id) => add.mutateAsync({ policyId: Number(id), controlId: control.id })}
        isPending={add.isPending}
        error={add.error ?? found.error}
      />
      <Warnings warnings={add.data?.warnings ?? []} />
    </>
  );
}
