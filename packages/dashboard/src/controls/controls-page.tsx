import { useInfiniteQuery } from '@connectrpc/connect-query';
import { ControlService, type ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { Link } from 'wouter';
import { FILTERED_BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { CreateControlSnippets } from '../first-evening/teaching-snippets.js';
import { useMay } from '../session/session-context.js';
import { List } from '../ui/list/list.js';
import { Page } from '../ui/page/page.js';
import { QueryBar } from '../ui/query-bar/query-bar.js';
import type { QueryTerm } from '../ui/query-bar/query-member.js';
import { useQueryTerms } from '../ui/query-bar/use-query-terms.js';
import { SavedViews } from '../ui/saved-views/saved-views.js';
import { Empty } from '../ui/states.js';
import { selectColumn } from '../ui/table/selection-bar.js';
import { useSelection } from '../ui/table/use-selection.js';
import { useSort } from '../ui/table/use-sort.js';
import { BulkBar } from './bulk/bulk-bar.js';
import { CONTROL_COLUMNS } from './control-columns.js';
import { CONTROL_MEMBERS, controlFilter } from './control-members.js';
import { CONTROL_ORDERS, controlOrder } from './control-order.js';
import '../control-parts/controls.css';

const keyOf = ({ id }: ControlSummary) => id;
const printedTerm = ({ member, value }: QueryTerm) => `${member.name}:${value}`;

/** All controls, with filters and in any order; an admin changes several at once. */
export default function ControlsPage() {
  const query = useQueryTerms(CONTROL_MEMBERS);
  const sort = useSort(CONTROL_ORDERS);
  const mayChange = useMay('controls.write');
  const { terms, isReady } = query;
  const request = controlFilter(isReady ? terms : []);
  const list = useInfiniteQuery(
    ControlService.method.listControls,
    { ...FIRST_PAGE, ...request, ...controlOrder(sort) },
    { ...FILTERED_BY_CURSOR, enabled: isReady },
  );
  const selection = useSelection(keyOf, terms.map(printedTerm).join(' '));
  return (
    <Page
      title="Controls"
      actions={
        mayChange && (
          <Link className="action" href="/controls/new">
            New control
          </Link>
        )
      }
    >
      <div className="filter-line">
        <QueryBar label="Filter controls" query={query} textMember="name" />
        <SavedViews page="/controls" />
      </div>
      {isReady && (
        <List
          label="Controls"
          what="controls"
          query={list}
          rowsOf={({ controls }) => controls}
          keyOf={keyOf}
          sort={sort}
          rowClass={(control) => (mayChange && selection.has(control) ? 'selected' : undefined)}
          empty={<NoControls isFiltered={terms.length > 0} />}
          // It stays when no control is left: it shows what became of them.
          above={(controls, total) =>
            mayChange && <BulkBar shown={controls} total={total} filter={request} selection={selection} />
          }
          columns={[mayChange && selectColumn(selection, ({ name }) => name), ...CONTROL_COLUMNS]}
        />
      )}
    </Page>
  );
}

function NoControls({ isFiltered }: { readonly isFiltered: boolean }) {
  const mayChange = useMay('controls.write');
  if (isFiltered) return <Empty title="No control matches the filters" />;
  return (
    <Empty title="No controls yet">
      <p>
        A control says which steps to check, what to check, and what to do on a match.{' '}
        {mayChange && <Link href="/controls/new">Write the first one</Link>}
      </p>
      <p>The same over the API:</p>
      <CreateControlSnippets />
    </Empty>
  );
}
