import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pageOf, paginationOf } from '../../../src/contract/call/page.js';

interface Row {
  readonly id: number;
  readonly name: string;
}

const rows = fc
  .uniqueArray(fc.record({ id: fc.integer({ min: 1 }), name: fc.string() }), {
    selector: ({ id }) => id,
    maxLength: 30,
  })
  .map((all) => all.sort((a, b) => b.id - a.id));

/** A list of all rows, newest first, as a store and a service make it: of those after the cursor, one more is read. */
function listed(all: readonly Row[], cursor: string | null, limit: number) {
  const after = all.filter(({ id }) => cursor === null || id < Number(cursor));
  return pageOf(after.slice(0, limit + 1), limit, all.length);
}

describe('pages of a list', () => {
  it('are walked by their cursors: each row once, in order, and no further than the last page', () => {
    const ids = (found: readonly Row[]) => found.map(({ id }) => id);
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 12 }), (all, limit) => {
        const seen: Row[] = [];
        const pages = Math.max(1, Math.ceil(all.length / limit));
        let cursor: string | null = null;
        for (let page = 1; page <= pages; page += 1) {
          const found = listed(all, cursor, limit);
          const told = paginationOf(found, limit);
          seen.push(...found.rows);
          const isLast = page === pages;
          const next = isLast ? null : String(found.rows.at(-1)?.id);
          expect(told).toEqual({ limit, total: all.length, next_cursor: next, has_more: !isLast });
          cursor = told.next_cursor;
        }
        expect(ids(seen)).toEqual(ids(all));
      }),
    );
  });

  it('have the cursor that is made of their last row', () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 12 }), (all, limit) => {
        const page = listed(all, null, limit);
        const { next_cursor: next } = paginationOf(page, limit, ({ name }) => `after ${name}`);
        expect(next).toBe(all.length > limit ? `after ${all[limit - 1]?.name}` : null);
      }),
    );
  });

  it('have no cursor when their rows were deleted meanwhile', () => {
    const page = { rows: [] as Row[], total: 5, hasMore: true };
    expect(JSON.stringify(paginationOf(page, 2))).toBe(
      '{"limit":2,"total":5,"next_cursor":null,"has_more":true}',
    );
  });
});
