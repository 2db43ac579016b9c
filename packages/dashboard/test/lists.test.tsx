import { Code, ConnectError } from '@connectrpc/connect';
import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Router } from 'wouter';
import { FilterBar, type FilterField } from '../src/ui/list/filter-fields.js';
import { List } from '../src/ui/list/list.js';
import { AddressTabs } from '../src/ui/page/address-tabs.js';
import { useAddressFilter } from '../src/ui/page/use-address-filter.js';
import type { Columns } from '../src/ui/table/columns.js';
import { SelectionBar, selectColumn } from '../src/ui/table/selection-bar.js';
import { Table } from '../src/ui/table/table.js';
import { useSelection } from '../src/ui/table/use-selection.js';
import { nextSort, sortOf, useSort } from '../src/ui/table/use-sort.js';

interface Thing {
  readonly name: string;
  readonly uses: number;
}

const COLUMNS: Columns<Thing> = [
  { head: 'Name', dir: 'auto', cell: ({ name }) => name },
  { head: 'Uses', className: 'number', cell: ({ uses }) => uses },
];
const THINGS: readonly Thing[] = [
  { name: 'one', uses: 1 },
  { name: 'two', uses: 2 },
];
const keyOf = ({ name }: Thing) => name;

/** The markup at an address, without the attributes that only the layout needs. */
function markupOf(node: ReactNode, search = ''): string {
  const page = (
    <Router ssrPath="/things" ssrSearch={search}>
      {node}
    </Router>
  );
  return renderToStaticMarkup(page).replaceAll(' tabindex="-1"', '');
}

describe('a table', () => {
  it('has a cell for each column of each row', () => {
    expect(markupOf(<Table label="Things" columns={COLUMNS} rows={THINGS} keyOf={keyOf} />)).toContain(
      '<thead><tr><th scope="col">Name</th><th scope="col" class="number">Uses</th></tr></thead><tbody>' +
        '<tr><td dir="auto">one</td><td class="number">1</td></tr>' +
        '<tr><td dir="auto">two</td><td class="number">2</td></tr></tbody>',
    );
  });

  it('leaves out columns whose condition is not met', () => {
    const columns: Columns<Thing> = [
      ...COLUMNS,
      false,
      { head: 'Action', cell: () => <button type="button" /> },
    ];
    const markup = markupOf(<Table label="Things" columns={columns} rows={THINGS} keyOf={keyOf} />);
    expect(markup.match(/<th /g)).toHaveLength(3);
    expect(markup.match(/<td/g)).toHaveLength(6);
  });

  it('marks rows, and has rows with a single cell', () => {
    const markup = markupOf(
      <Table
        label="Things"
        columns={COLUMNS}
        rows={THINGS}
        keyOf={keyOf}
        rowClass={({ uses }) => (uses > 1 ? 'selected' : undefined)}
        wideCell={({ uses }) => (uses > 1 ? 'and others' : undefined)}
      />,
    );
    expect(markup).toContain('<tr><td dir="auto">one</td>');
    expect(markup).toContain('<tr class="selected"><td colSpan="2">and others</td></tr>');
  });

  it('is not there without rows, if something stands for it', () => {
    const table = { label: 'Things', columns: COLUMNS, rows: [], keyOf };
    expect(markupOf(<Table {...table} empty={<p>No things</p>} />)).toBe('<p>No things</p>');
    expect(markupOf(<Table {...table} />)).toContain('<tbody></tbody>');
  });

  it('says how many rows it has when it draws only some of them', () => {
    const many = Array.from({ length: 201 }, (_, index) => ({ name: String(index), uses: 0 }));
    const rowCount = (rows: readonly Thing[]) =>
      /aria-rowcount="(\d+)"/.exec(
        markupOf(<Table label="Things" columns={COLUMNS} rows={rows} keyOf={keyOf} />),
      )?.[1];
    expect(rowCount(many)).toBe('202');
    expect(rowCount(many.slice(1))).toBeUndefined();
  });
});

describe('the order of a table', () => {
  const sorted: Columns<Thing> = [
    { head: 'Name', sort: { by: 'name', first: 'ascending' }, cell: ({ name }) => name },
    { head: 'Uses', sort: { by: 'uses', first: 'descending' }, cell: ({ uses }) => uses },
    { head: 'Note', cell: () => '' },
  ];
  function Sorted() {
    const sort = useSort(['name', 'uses']);
    return <Table label="Things" columns={sorted} rows={THINGS} keyOf={keyOf} sort={sort} />;
  }
  const orders = (search: string) =>
    [...markupOf(<Sorted />, search).matchAll(/aria-sort="(\w+)"/g)].map(([, order]) => order);

  it('is that of the address, in the direction of the column or the reverse', () => {
    expect(orders('')).toEqual(['none', 'none']);
    expect(orders('sort=name')).toEqual(['ascending', 'none']);
    expect(orders('sort=-name')).toEqual(['descending', 'none']);
    expect(orders('sort=uses')).toEqual(['none', 'descending']);
    expect(orders('sort=-uses')).toEqual(['none', 'ascending']);
    expect(orders('sort=unknown')).toEqual(['none', 'none']);
  });

  it('is selected by a button in the head, and heads without an order have none', () => {
    expect(markupOf(<Sorted />).match(/<button type="button" class="sort">/g)).toHaveLength(2);
  });

  it('is reversed by its head, then given up', () => {
    const names = ['name', 'uses'];
    expect(nextSort('name', sortOf('', names))).toBe('name');
    expect(nextSort('name', sortOf('name', names))).toBe('-name');
    expect(nextSort('name', sortOf('-name', names))).toBe('');
    expect(nextSort('uses', sortOf('-name', names))).toBe('uses');
  });
});

describe('the selection of rows', () => {
  function Selected({ total }: { readonly total: number }) {
    const selection = useSelection(keyOf, '');
    return (
      <>
        <SelectionBar selection={selection} shown={THINGS} total={total} what="thing">
          actions
        </SelectionBar>
        <Table
          label="Things"
          columns={[selectColumn(selection, keyOf), ...COLUMNS]}
          rows={THINGS}
          keyOf={keyOf}
        />
      </>
    );
  }

  it('has a checkbox for each row and one for all that are shown, and no actions without a selection', () => {
    const markup = markupOf(<Selected total={5} />);
    expect(markup).toContain('Select all 2 shown things');
    expect(markup).toContain('aria-label="Select one"');
    expect(markup).not.toContain('actions');
  });
});

describe('a list', () => {
  // Failures are explained by the network of the browser.
  beforeAll(() => vi.stubGlobal('navigator', { onLine: true }));
  afterAll(() => vi.unstubAllGlobals());

  interface Reply {
    readonly $typeName: string;
    readonly things: readonly Thing[];
    readonly pagination?: { readonly total: number };
  }
  const page: Reply = { $typeName: 'Reply', things: THINGS, pagination: { total: 5 } };
  const idle = { hasNextPage: false, isFetchingNextPage: false, fetchNextPage: () => undefined };
  const listOf = (query: object, props: object = {}) =>
    markupOf(
      <List
        label="Things"
        what="things"
        columns={COLUMNS}
        rowsOf={({ things }: Reply) => things}
        keyOf={keyOf}
        empty={<p>No things</p>}
        query={{ ...idle, data: undefined, error: null, refetch: () => undefined, ...query }}
        {...props}
      />,
    );

  it('says that it is loading, or why it cannot be loaded', () => {
    expect(listOf({})).toContain('Loading things…');
    const markup = listOf({ error: new ConnectError('only admins', Code.PermissionDenied) });
    expect(markup).toContain('role="alert"');
    expect(markup).toContain('only admins');
    expect(markup).toContain('Try again');
  });

  it('shows old rows with the failure to load newer ones', () => {
    const markup = listOf({ data: { pages: [page] }, error: new ConnectError('away', Code.Unavailable) });
    expect(markup).toContain('away');
    expect(markup).toContain('two');
  });

  it('has the rows of all pages, their number, and a button for more', () => {
    const markup = listOf({
      data: { pages: [page, { ...page, things: [{ name: 'three', uses: 3 }] }] },
      hasNextPage: true,
    });
    expect(markup.match(/<tr>/g)).toHaveLength(1 + 3);
    expect(markup).toContain('role="status">3 of 5<');
    expect(markup).toContain('>Load more</button>');
  });

  it('has no button at its end, and one that waits while a page is loaded', () => {
    expect(listOf({ data: { pages: [page] } })).not.toContain('<button');
    expect(listOf({ data: { pages: [page] }, hasNextPage: true, isFetchingNextPage: true })).toContain(
      '<button type="button" disabled="">Loading…</button>',
    );
  });

  it('shows a total that is not exact as a text', () => {
    expect(listOf({ data: { pages: [page] } }, { totalOf: () => 'about 9' })).toContain('2 of about 9');
  });

  it('shows what stands for no rows, below what stands above both', () => {
    const markup = listOf(
      { data: { pages: [{ ...page, things: [] }] } },
      { above: (things: readonly Thing[]) => <p>{things.length} shown</p> },
    );
    expect(markup).toBe('<p>0 shown</p><p>No things</p>');
  });
});

describe('the address', () => {
  const FILTERS: readonly FilterField[] = [
    { name: 'name', label: 'Name contains', placeholder: 'a part' },
    {
      name: 'state',
      label: 'State',
      options: [
        ['', 'any'],
        ['on', 'on'],
      ],
    },
  ];

  function Filters() {
    return <FilterBar fields={FILTERS} filter={useAddressFilter()} />;
  }

  it('has the values of filters', () => {
    const markup = markupOf(<Filters />, 'name=card&state=on');
    expect(markup).toMatch(
      /<label for="(.+?)">Name contains<\/label><input (?=[^>]*id="\1")[^>]*type="search"/,
    );
    expect(markup).toMatch(/<input [^>]*value="card"/);
    expect(markup).toContain('<option value="on" selected="">on</option>');
  });

  it('has the tab that is selected, unless it is the first', () => {
    const tabs = ['first', 'second'].map((id) => ({ id, name: id, content: `content of ${id}` }));
    const selected = (search: string) =>
      /content of (\w+)/.exec(markupOf(<AddressTabs label="Parts" tabs={tabs} />, search))?.[1];
    expect(selected('')).toBe('first');
    expect(selected('tab=second')).toBe('second');
    expect(selected('tab=unknown')).toBe('first');
  });
});
