import { useInfiniteQuery, useQuery } from '@connectrpc/connect-query';
import { type ApiKey, KeyService } from '@gen/enforcement/v1/key_service_pb.js';
import { Link } from 'wouter';
import { FILTERED_BY_CURSOR } from '../data/by-cursor.js';
import { CallerCard } from '../session/caller-card.js';
import { useMay } from '../session/session-context.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { type FilterField, FilterFields } from '../ui/list/filter-fields.js';
import { List } from '../ui/list/list.js';
import { useAllPages } from '../ui/list/use-all-pages.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { SavedViews } from '../ui/saved-views/saved-views.js';
import { Empty } from '../ui/states.js';
import { useSort } from '../ui/table/use-sort.js';
import { KEY_COLUMNS } from './key-columns.js';
import { inKeyOrder, KEY_ORDERS, KEY_STATES, keyState } from './key-state.js';
import { People } from './people.js';

const PAGE_SIZE = 100;
const STATE_OPTIONS = [
  ['', 'that can be used'],
  ['all', 'all, also ended ones'],
  ...Object.entries(KEY_STATES),
] as const;

/** The keys of the namespace, and who the caller is. */
export default function KeysPage() {
  const mayRead = useMay('keys.read');
  const mayWrite = useMay('keys.write');
  return (
    <Page
      title="Keys and people"
      actions={
        mayWrite && (
          <Link className="action primary" href="/keys/new">
            New key
          </Link>
        )
      }
    >
      <div className="stack">
        {mayRead && (
          <section>
            <Keys />
          </section>
        )}
        <CallerCard />
        <People />
      </div>
    </Page>
  );
}

function Keys() {
  const filter = useAddressFilter();
  const sort = useSort(KEY_ORDERS);
  const name = useDebounced(filter.get('name')).trim();
  const [state, role] = [filter.get('state'), filter.get('role')];
  const roles = useQuery(KeyService.method.listRoles, {});
  const query = useInfiniteQuery(
    KeyService.method.listKeys,
    {
      cursor: undefined,
      limit: PAGE_SIZE,
      includeEnded: ['all', 'expired', 'revoked'].includes(state),
      ...(name === '' ? {} : { name }),
    },
    FILTERED_BY_CURSOR,
  );
  const isChosen = state !== '' && state !== 'all';
  // The server has them in one order, and filters by name alone.
  const isPicked = isChosen || role !== '';
  useAllPages(query, sort.by !== '' || isPicked);
  const loaded = query.data?.pages.flatMap(({ keys }) => keys) ?? [];
  const nowMs = Date.now();
  const isShown = (key: ApiKey): boolean =>
    (!isChosen || keyState(key, nowMs) === state) && (role === '' || roleOf(key) === role);
  const fields: readonly FilterField[] = [
    { name: 'name', label: 'Name or owner contains' },
    { name: 'state', label: 'State', options: STATE_OPTIONS },
    {
      name: 'role',
      label: 'Role',
      options: [
        ['', 'any'],
        ...(roles.data?.roles ?? []).map((one) => [one.name, one.name] as const),
        [OWN_SCOPES, 'own scopes'],
      ],
    },
  ];
  const isFiltered = name !== '' || state !== '' || role !== '';
  return (
    <>
      <search className="filters">
        <FilterFields fields={fields} filter={filter} />
        <SavedViews page="/keys" />
      </search>
      <List
        label="Keys"
        what="keys"
        query={query}
        columns={KEY_COLUMNS}
        sort={sort}
        rowsOf={({ keys }) => keys}
        arrange={(keys) => inKeyOrder(keys.filter(isShown), sort)}
        totalOf={({ pagination }) => (isPicked ? loaded.filter(isShown).length : (pagination?.total ?? 0))}
        keyOf={({ id }) => id}
        empty={<NoKeys isFiltered={isFiltered} />}
      />
    </>
  );
}

const OWN_SCOPES = 'scopes';

function roleOf({ role = OWN_SCOPES }: ApiKey): string {
  return role;
}

function NoKeys({ isFiltered }: { readonly isFiltered: boolean }) {
  return (
    <Empty title={isFiltered ? 'No key passes the filters' : 'No keys are stored in this namespace'}>
      <p>
        Keys of the variables and of the keys file of the service are not listed: they are managed where it is
        installed. Keys that are made here take effect in every process within a second.
      </p>
    </Empty>
  );
}
