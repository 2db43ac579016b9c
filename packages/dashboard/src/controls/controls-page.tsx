import { useInfiniteQuery } from '@connectrpc/connect-query';
import { ControlService, type ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { Link } from 'wouter';
import { FILTERED_BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { restAddress } from '../data/rest-address.js';
import { useIsAdmin } from '../session/session-context.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { FilterBar } from '../ui/list/filter-fields.js';
import { List } from '../ui/list/list.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty } from '../ui/states.js';
import { selectColumn } from '../ui/table/selection-bar.js';
import { useSelection } from '../ui/table/use-selection.js';
import { useSort } from '../ui/table/use-sort.js';
import { BulkBar } from './bulk/bulk-bar.js';
import { CONTROL_COLUMNS } from './control-columns.js';
import { CONTROL_FILTERS, controlFilter, filtersOf } from './control-filters.js';
import { CONTROL_ORDERS, controlOrder } from './control-order.js';
import '../control-parts/controls.css';

const keyOf = ({ id }: ControlSummary) => id;

/** All controls, with filters and in any order; an admin changes several at once. */
export default function ControlsPage() {
  const filter = useAddressFilter();
  const sort = useSort(CONTROL_ORDERS);
  const isAdmin = useIsAdmin();
  const settled = useDebounced(filtersOf(filter.parameters).toString());
  const request = controlFilter(new URLSearchParams(settled));
  const query = useInfiniteQuery(
    ControlService.method.listControls,
    { ...FIRST_PAGE, ...request, ...controlOrder(sort) },
    FILTERED_BY_CURSOR,
  );
  const selection = useSelection(keyOf, settled);
  return (
    <Page
      title="Controls"
      actions={
        isAdmin && (
          <Link className="action" href="/controls/new">
            New control
          </Link>
        )
      }
    >
      <FilterBar fields={CONTROL_FILTERS} filter={filter} />
      <List
        label="Controls"
        what="controls"
        query={query}
        rowsOf={({ controls }) => controls}
        keyOf={keyOf}
        sort={sort}
        rowClass={(control) => (isAdmin && selection.has(control) ? 'selected' : undefined)}
        empty={<NoControls isFiltered={settled !== ''} />}
        // It stays when no control is left: it shows what became of them.
        above={(controls, total) =>
          isAdmin && <BulkBar shown={controls} total={total} filter={request} selection={selection} />
        }
        columns={[isAdmin && selectColumn(selection, ({ name }) => name), ...CONTROL_COLUMNS]}
      />
    </Page>
  );
}

function NoControls({ isFiltered }: { readonly isFiltered: boolean }) {
  const isAdmin = useIsAdmin();
  if (isFiltered) return <Empty title="No control matches the filters" />;
  return (
    <Empty title="No controls yet">
      <p>
        A control says which steps to check, what to check, and what to do on a match.{' '}
        {isAdmin && <Link href="/controls/new">Write the first one</Link>}
      </p>
      <p>The same over the API:</p>
      <pre className="code">
        {`curl -X PUT ${restAddress('/controls')} -H 'content-type: application/json' -d '{
  "name": "no-card-numbers",
  "data": {
    "execution": "server",
    "condition": {
      "selector": {"path": "input.text"},
      "evaluator": {"name": "regex", "config": {"pattern": "\\\\b\\\\d{16}\\\\b"}}
    },
    "action": {"decision": "deny"}
  }
}'`}
      </pre>
    </Empty>
  );
}
