import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useInfiniteQuery } from '@connectrpc/connect-query';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useLocation } from 'wouter';
import { FILTERED_BY_CURSOR } from '../data/by-cursor.js';
import { useChange } from '../data/use-change.js';
import { POLICY_COLUMN } from '../references/columns.js';
import { useMay } from '../session/session-context.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { NameForm } from '../ui/fields/name-form.js';
import { FilterBar, type FilterField } from '../ui/list/filter-fields.js';
import { List } from '../ui/list/list.js';
import { useAllPages } from '../ui/list/use-all-pages.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { useSort } from '../ui/table/use-sort.js';
import { TimeText } from '../ui/time-text.js';
import { Labels } from './labels/labels.js';
import { inPolicyOrder, POLICY_ORDERS } from './policy-order.js';

const PAGE_SIZE = 100;
const FILTERS: readonly FilterField[] = [{ name: 'name', label: 'Name contains' }];
const COLUMNS: Columns<Policy> = [
  { ...POLICY_COLUMN, sort: { by: 'name', first: 'ascending' } },
  {
    head: 'Controls',
    className: 'number',
    sort: { by: 'controls', first: 'descending' },
    cell: ({ controlIds }) => controlIds.length.toLocaleString(),
  },
  {
    head: 'Agents',
    className: 'number',
    sort: { by: 'agents', first: 'descending' },
    cell: ({ agentCount }) => agentCount.toLocaleString(),
  },
  { head: 'Given to', cell: (policy) => <GivenTo policy={policy} /> },
  {
    head: 'Last change',
    sort: { by: 'updated', first: 'descending' },
    cell: ({ updateTime }) => (
      <TimeText time={updateTime === undefined ? undefined : timestampDate(updateTime).toISOString()} />
    ),
  },
];

/** All policies, and a form for a new one. */
export default function PoliciesPage() {
  const mayChange = useMay('policies.write');
  const filter = useAddressFilter();
  const sort = useSort(POLICY_ORDERS);
  const name = useDebounced(filter.get('name')).trim();
  const query = useInfiniteQuery(
    PolicyService.method.listPolicies,
    { cursor: undefined, limit: PAGE_SIZE, ...(name === '' ? {} : { name }) },
    FILTERED_BY_CURSOR,
  );
  // The server has them in one order only, and they are few.
  useAllPages(query, sort.by !== '');
  return (
    <Page title="Policies">
      <FilterBar fields={FILTERS} filter={filter} />
      {mayChange && <NewPolicy />}
      <List
        label="Policies"
        what="policies"
        query={query}
        columns={COLUMNS}
        sort={sort}
        arrange={(policies) => inPolicyOrder(policies, sort)}
        rowsOf={({ policies }) => policies}
        keyOf={({ id }) => id}
        empty={<NoPolicies isFiltered={name !== ''} />}
      />
    </Page>
  );
}

/** How agents come to a policy without being added to it. */
function GivenTo({ policy: { everyAgent, agentLabels } }: { readonly policy: Policy }) {
  if (everyAgent) return 'every agent';
  if (agentLabels.length === 0) return <span className="muted">agents that are added</span>;
  return <Labels labels={agentLabels} />;
}

/** Creates a policy and opens it. */
function NewPolicy() {
  const [, open] = useLocation();
  const create = useChange(PolicyService.method.createPolicy, ({ policyId }) =>
    open(`/policies/${policyId}`),
  );
  return (
    <NameForm
      title="Create a policy"
      label="New policy"
      placeholder="name"
      verb="Create"
      change={create}
      onSubmit={(name) => create.mutate({ name })}
    />
  );
}

function NoPolicies({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No policy has this name" />;
  return (
    <Empty title="No policies yet">
      <p>
        A policy is a set of controls with a name. An agent with the policy is checked by all of them, also by
        those that are added later.
      </p>
      <p>
        It is given to agents that are added to it, to all agents with some labels such as{' '}
        <code>team=finance</code>, or to every agent.
      </p>
    </Empty>
  );
}
