import { useInfiniteQuery } from '@connectrpc/connect-query';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useLocation } from 'wouter';
import { FILTERED_BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { useChange } from '../data/use-change.js';
import { POLICY_COLUMN } from '../references/columns.js';
import { useIsAdmin } from '../session/session-context.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { NameForm } from '../ui/fields/name-form.js';
import { FilterBar, type FilterField } from '../ui/list/filter-fields.js';
import { List } from '../ui/list/list.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';

const FILTERS: readonly FilterField[] = [{ name: 'name', label: 'Name contains' }];
const COLUMNS: Columns<Policy> = [
  POLICY_COLUMN,
  { head: 'Controls', className: 'number', cell: ({ controlIds }) => controlIds.length },
  { head: 'Agents', className: 'number', cell: ({ agentCount }) => agentCount },
];

/** All policies, and a form for a new one. */
export default function PoliciesPage() {
  const isAdmin = useIsAdmin();
  const filter = useAddressFilter();
  const name = useDebounced(filter.get('name')).trim();
  const query = useInfiniteQuery(
    PolicyService.method.listPolicies,
    { ...FIRST_PAGE, ...(name === '' ? {} : { name }) },
    FILTERED_BY_CURSOR,
  );
  return (
    <Page title="Policies">
      <FilterBar fields={FILTERS} filter={filter} />
      {isAdmin && <NewPolicy />}
      <List
        label="Policies"
        what="policies"
        query={query}
        columns={COLUMNS}
        rowsOf={({ policies }) => policies}
        keyOf={({ id }) => id}
        empty={<NoPolicies isFiltered={name !== ''} />}
      />
    </Page>
  );
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
    </Empty>
  );
}
