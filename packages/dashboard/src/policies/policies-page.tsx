import { useInfiniteQuery, useMutation } from '@connectrpc/connect-query';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { keepPreviousData, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { BY_CURSOR } from '../data/by-cursor.js';
import { useIsAdmin } from '../session/session-context.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { errorText } from '../ui/error-text.js';
import { TextField } from '../ui/fields/fields.js';
import { LoadMore, nextPageOf } from '../ui/list/load-more.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty, QueryState } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';

const PAGE_SIZE = 50;

/** All policies, and a form for a new one. */
export default function PoliciesPage() {
  const isAdmin = useIsAdmin();
  const [filters, setFilter] = useAddressFilter();
  const typed = filters.get('name') ?? '';
  const name = useDebounced(typed).trim();
  const query = useInfiniteQuery(
    PolicyService.method.listPolicies,
    { cursor: undefined, limit: PAGE_SIZE, ...(name === '' ? {} : { name }) },
    { ...BY_CURSOR, placeholderData: keepPreviousData },
  );
  return (
    <Page title="Policies">
      <search className="filters">
        <TextField
          label="Name contains"
          type="search"
          value={typed}
          onChange={(text) => setFilter('name', text)}
        />
      </search>
      {isAdmin && <NewPolicy />}
      <QueryState query={query} what="policies">
        {({ pages }) => {
          const policies = pages.flatMap((page) => page.policies);
          if (policies.length === 0) return <NoPolicies isFiltered={name !== ''} />;
          return (
            <>
              <Table label="Policies" columns={['Policy', 'Controls', 'Agents']} onEnd={nextPageOf(query)}>
                {policies.map((policy) => (
                  <tr key={policy.id}>
                    <td>
                      <Link href={`/policies/${policy.id}`}>
                        <UserText text={policy.name} />
                      </Link>
                    </td>
                    <td className="number">{policy.controlIds.length}</td>
                    <td className="number">{policy.agentCount}</td>
                  </tr>
                ))}
              </Table>
              <LoadMore {...query} shown={policies.length} total={pages[0]?.pagination?.total ?? 0} />
            </>
          );
        }}
      </QueryState>
    </Page>
  );
}

/** Creates a policy and opens it. */
function NewPolicy() {
  const [name, setName] = useState('');
  const [, open] = useLocation();
  const queries = useQueryClient();
  const create = useMutation(PolicyService.method.createPolicy, {
    onSuccess: async ({ policyId }) => {
      await queries.invalidateQueries();
      open(`/policies/${policyId}`);
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({ name: name.trim() });
  };
  return (
    <form className="filters" onSubmit={submit} aria-label="Create a policy">
      <TextField label="New policy" value={name} onChange={setName} placeholder="name" />
      <button type="submit" disabled={create.isPending || name.trim() === ''}>
        Create
      </button>
      {create.error !== null && (
        <p className="problem" role="alert">
          {errorText(create.error).detail}
        </p>
      )}
    </form>
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
