import { useInfiniteQuery } from '@connectrpc/connect-query';
import { ControlService, type ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { useState } from 'react';
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
import { BulkBar } from './bulk/bulk-bar.js';
import { CONTROL_COLUMNS } from './control-columns.js';
import { CONTROL_FILTERS, controlFilter } from './control-filters.js';
import '../control-parts/controls.css';

/** All controls, with filters; an admin changes several at once. */
export default function ControlsPage() {
  const filter = useAddressFilter();
  const isAdmin = useIsAdmin();
  const settled = useDebounced(filter.parameters.toString());
  const query = useInfiniteQuery(
    ControlService.method.listControls,
    { ...FIRST_PAGE, ...controlFilter(new URLSearchParams(settled)) },
    FILTERED_BY_CURSOR,
  );
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const isSelected = ({ id }: ControlSummary) => selected.has(id);
  const toggle = ({ id }: ControlSummary): void => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
  };
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
        keyOf={({ id }) => id}
        rowClass={(control) => (isSelected(control) ? 'selected' : undefined)}
        empty={<NoControls isFiltered={filter.parameters.size > 0} />}
        // It stays when no control is left: it shows what became of them.
        above={(controls) =>
          isAdmin && (
            <BulkBar
              shown={controls}
              // What the filters no longer show is not selected.
              selected={controls.filter(isSelected)}
              onSelect={(chosen) => setSelected(new Set(chosen.map(({ id }) => id)))}
            />
          )
        }
        columns={[
          isAdmin && {
            head: 'Select',
            className: 'check-cell',
            cell: (control) => (
              <input
                type="checkbox"
                aria-label={`Select ${control.name}`}
                checked={isSelected(control)}
                onChange={() => toggle(control)}
              />
            ),
          },
          ...CONTROL_COLUMNS,
        ]}
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
