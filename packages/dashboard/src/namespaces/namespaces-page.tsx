import { useInfiniteQuery } from '@connectrpc/connect-query';
import { type Namespace, NamespaceService } from '@gen/enforcement/v1/namespace_service_pb.js';
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import { BY_CURSOR } from '../data/by-cursor.js';
import { useChange } from '../data/use-change.js';
import { useMay } from '../session/session-context.js';
import { DEFAULT_NAMESPACE } from '../session/session-state.js';
import { TextField } from '../ui/fields/fields.js';
import { FilterBar, type FilterField } from '../ui/list/filter-fields.js';
import { List } from '../ui/list/list.js';
import { useAllPages } from '../ui/list/use-all-pages.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty, Problem } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { useSort } from '../ui/table/use-sort.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { DeleteNamespace } from './delete-namespace.js';
import { ExportNamespace } from './export-namespace.js';
import { inNamespaceOrder, NAMESPACE_ORDERS } from './namespace-order.js';
import { RenameNamespace } from './rename-namespace.js';

const PAGE_SIZE = 100;
const FILTERS: readonly FilterField[] = [{ name: 'name', label: 'Name contains' }];

const COLUMNS: Columns<Namespace> = [
  {
    head: 'Namespace',
    sort: { by: 'name', first: 'ascending' },
    cell: ({ name }) => <UserText text={name} />,
  },
  { head: 'Shown as', cell: ({ displayName }) => <UserText text={displayName} /> },
  {
    head: 'Agents',
    className: 'number',
    sort: { by: 'agents', first: 'descending' },
    cell: ({ agentCount }) => agentCount.toLocaleString(),
  },
  {
    head: 'Controls',
    className: 'number',
    sort: { by: 'controls', first: 'descending' },
    cell: ({ controlCount }) => controlCount.toLocaleString(),
  },
  {
    head: 'Keys',
    className: 'number',
    sort: { by: 'keys', first: 'descending' },
    cell: ({ keyCount }) => keyCount.toLocaleString(),
  },
  {
    head: 'Created',
    sort: { by: 'created', first: 'descending' },
    cell: ({ createdAt }) =>
      createdAt === undefined ? <span className="muted">always there</span> : <TimeText time={createdAt} />,
  },
];

/** The namespaces of the installation, for operators. */
export default function NamespacesPage() {
  const mayWrite = useMay('namespaces.write');
  const mayMakeKeys = useMay('keys.write');
  const filter = useAddressFilter();
  const sort = useSort(NAMESPACE_ORDERS);
  const part = filter.get('name').trim().toLowerCase();
  const query = useInfiniteQuery(
    NamespaceService.method.listNamespaces,
    { cursor: undefined, limit: PAGE_SIZE },
    BY_CURSOR,
  );
  // The server has them in one order, without a filter.
  useAllPages(query, sort.by !== '' || part !== '');
  const isShown = ({ name, displayName }: Namespace) =>
    [name, displayName].some((text) => text.toLowerCase().includes(part));
  const loaded = query.data?.pages.flatMap(({ namespaces }) => namespaces) ?? [];
  return (
    <Page title="Namespaces">
      <p>
        Each namespace has its own agents, controls, policies, bindings, events and keys, and sees nothing of
        the others. A caller is in the namespace of its key, token or session.
      </p>
      <FilterBar fields={FILTERS} filter={filter} />
      {mayWrite && <NewNamespace />}
      <List
        label="Namespaces"
        what="namespaces"
        query={query}
        sort={sort}
        rowsOf={({ namespaces }) => namespaces}
        arrange={(namespaces) => inNamespaceOrder(namespaces.filter(isShown), sort)}
        totalOf={({ pagination }) => (part === '' ? (pagination?.total ?? 0) : loaded.filter(isShown).length)}
        keyOf={({ name }) => name}
        empty={<Empty title="No namespace has this in its name" />}
        columns={[
          ...COLUMNS,
          {
            head: 'Actions',
            isWhole: true,
            cell: (namespace) => (
              <span className="ways">
                {mayWrite && mayMakeKeys && (
                  <Link
                    href={`/keys/new?namespace=${namespace.name}`}
                    aria-label={`New key in ${namespace.name}`}
                  >
                    New key
                  </Link>
                )}
                {mayWrite && <RenameNamespace namespace={namespace} />}
                <ExportNamespace name={namespace.name} />
                {mayWrite && namespace.name !== DEFAULT_NAMESPACE && (
                  <DeleteNamespace namespace={namespace} />
                )}
              </span>
            ),
          },
        ]}
      />
    </Page>
  );
}

/** Creates a namespace. */
function NewNamespace() {
  const [name, setName] = useState('');
  const [displayName, setDisplayName] = useState('');
  const create = useChange(NamespaceService.method.createNamespace, () => {
    setName('');
    setDisplayName('');
  });
  const shown = displayName.trim();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({ name: name.trim(), ...(shown === '' ? {} : { displayName: shown }) });
  };
  return (
    <form className="filters" onSubmit={submit} aria-label="Create a namespace">
      <TextField label="New namespace" placeholder="team-a" value={name} onChange={setName} />
      <TextField label="Shown as" placeholder="Team A" value={displayName} onChange={setDisplayName} />
      <button type="submit" disabled={create.isPending || name.trim() === ''}>
        Create
      </button>
      <Problem error={create.error} />
    </form>
  );
}
