import { useInfiniteQuery } from '@connectrpc/connect-query';
import { ControlService, type ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { BY_CURSOR } from '../data/by-cursor.js';
import { useIsAdmin } from '../session/session-context.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { LoadMore, nextPageOf } from '../ui/list/load-more.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty, QueryState } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { BulkBar } from './bulk/bulk-bar.js';
import { ControlFilters, controlFilter } from './control-filters.js';
import { CONTROL_COLUMNS, ControlRow } from './control-row.js';
import '../control-parts/controls.css';

const PAGE_SIZE = 50;

/** All controls, with filters; an admin changes several at once. */
export default function ControlsPage() {
  const [filters, setFilter] = useAddressFilter();
  const isAdmin = useIsAdmin();
  const settled = useDebounced(filters.toString());
  const query = useInfiniteQuery(
    ControlService.method.listControls,
    { cursor: undefined, limit: PAGE_SIZE, ...controlFilter(new URLSearchParams(settled)) },
    { ...BY_CURSOR, placeholderData: keepPreviousData },
  );
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
      <ControlFilters parameters={filters} onChange={setFilter} />
      <QueryState query={query} what="controls">
        {({ pages }) => {
          const controls = pages.flatMap((page) => page.controls);
          return (
            <>
              <ControlTable controls={controls} isFiltered={filters.size > 0} onEnd={nextPageOf(query)} />
              <LoadMore {...query} shown={controls.length} total={pages[0]?.pagination?.total ?? 0} />
            </>
          );
        }}
      </QueryState>
    </Page>
  );
}

interface ControlTableProps {
  readonly controls: readonly ControlSummary[];
  readonly isFiltered: boolean;
  readonly onEnd: (() => unknown) | undefined;
}

/** The bar of bulk actions stays when no control is left: it shows what became of them. */
function ControlTable({ controls, isFiltered, onEnd }: ControlTableProps) {
  const isAdmin = useIsAdmin();
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  // What the filters no longer show is not selected.
  const selectedControls = controls.filter(({ id }) => selected.has(id));
  const toggle = (id: number): void => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
  };
  return (
    <>
      {isAdmin && (
        <BulkBar
          shown={controls}
          selected={selectedControls}
          onSelect={(chosen) => setSelected(new Set(chosen.map(({ id }) => id)))}
        />
      )}
      {controls.length === 0 ? (
        <NoControls isFiltered={isFiltered} />
      ) : (
        <Table label="Controls" columns={[...(isAdmin ? ['Select'] : []), ...CONTROL_COLUMNS]} onEnd={onEnd}>
          {controls.map((control) => (
            <ControlRow
              key={control.id}
              control={control}
              selection={
                isAdmin
                  ? { isSelected: selected.has(control.id), onToggle: () => toggle(control.id) }
                  : undefined
              }
            />
          ))}
        </Table>
      )}
    </>
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
        {`curl -X PUT ${window.location.origin}/api/v1/controls -H 'content-type: application/json' -d '{
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
