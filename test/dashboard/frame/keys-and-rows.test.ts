import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  matching,
  recentItems,
  withoutRepeats,
} from '../../../packages/dashboard/src/frame/palette-items.js';
import { MAX_WAITING, ROWS_A_SECOND, RowQueue } from '../../../packages/dashboard/src/live/row-queue.js';
import { type RecentPage, withRecentPage } from '../../../packages/dashboard/src/ui/page/recent-pages.js';
import { KeySequence } from '../../../packages/dashboard/src/ui/shortcuts/shortcut-keys.js';
import { rowAfterKey, tableParts } from '../../../packages/dashboard/src/ui/table/table-rows.js';

describe('keys', () => {
  const key = (text: string, held: object = {}) => ({
    key: text,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    ...held,
  });

  it('are put together when they follow each other in time', () => {
    const sequence = new KeySequence();
    expect(sequence.press(key('g'), 0)).toBeUndefined();
    expect(sequence.press(key('c'), 1_000)).toBe('g c');
    expect(sequence.press(key('c'), 1_100)).toBe('c');
    expect(sequence.press(key('g'), 2_000)).toBeUndefined();
    expect(sequence.press(key('c'), 4_000)).toBe('c');
  });

  it('are no shortcuts with a modifier, which also ends a sequence', () => {
    for (const held of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }]) {
      const sequence = new KeySequence();
      sequence.press(key('g'), 0);
      expect(sequence.press(key('c', held), 1)).toBeUndefined();
      expect(sequence.press(key('c'), 2)).toBe('c');
    }
  });

  it('are those of a text while somebody types one without a field', () => {
    const sequence = new KeySequence();
    const type = (text: string, at: number) => {
      const found = sequence.press(key(text), at);
      if (found === text) sequence.meantNothing(key(text), at);
      return found;
    };
    expect(type('n', 0)).toBe('n');
    expect(type('g', 100)).toBeUndefined();
    expect(type('e', 200)).toBeUndefined();
    expect(type('?', 300)).toBeUndefined();
    expect(type('g', 900)).toBeUndefined();
    expect(type('e', 1_000)).toBe('g e');
  });

  it('lead from row to row and never out of the list', () => {
    expect(rowAfterKey('j', 0, 3)).toBe(1);
    expect(rowAfterKey('ArrowDown', 2, 3)).toBe(2);
    expect(rowAfterKey('k', 0, 3)).toBe(0);
    expect(rowAfterKey('Home', 2, 3)).toBe(0);
    expect(rowAfterKey('End', 0, 3)).toBe(2);
    expect(rowAfterKey('x', 0, 3)).toBeUndefined();
  });
});

describe('the rows of a virtualised table', () => {
  it('and the spaces between them are as high as all rows together', () => {
    const drawn = fc.uniqueArray(fc.nat(99), { maxLength: 30 });
    fc.assert(
      fc.property(
        drawn,
        fc.array(fc.integer({ min: 20, max: 60 }), { minLength: 100, maxLength: 100 }),
        (some, heights) => {
          const starts = heights.map((_height, index) =>
            heights.slice(0, index).reduce((sum, one) => sum + one, 0),
          );
          const total = heights.reduce((sum, one) => sum + one, 0);
          const rows = some
            .sort((a, b) => a - b)
            .map((index) => ({
              index,
              start: starts[index] ?? 0,
              end: (starts[index] ?? 0) + (heights[index] ?? 0),
            }));
          const parts = tableParts(rows, total);
          const height = parts.reduce(
            (sum, part) => sum + ('index' in part ? (heights[part.index] ?? 0) : part.height),
            0,
          );
          expect(height).toBe(total);
          expect(parts.flatMap((part) => ('index' in part ? [part.index] : []))).toEqual(some);
        },
      ),
    );
  });
});

describe('live rows', () => {
  it('are drawn at once when there are few, at most ten a second, in order', () => {
    const queue = new RowQueue<number>();
    queue.push(Array.from({ length: 25 }, (_, index) => index));
    expect(queue.take(0)).toEqual({ rows: Array.from({ length: 10 }, (_, index) => index), skipped: 0 });
    expect(queue.take(50)).toEqual({ rows: [], skipped: 0 });
    expect(queue.take(100)).toEqual({ rows: [10], skipped: 0 });
    expect(queue.take(1_100).rows).toHaveLength(10);
    expect(queue.waiting).toBe(4);
  });

  it('are all drawn or counted, whatever the times, and few of them wait', () => {
    const step = fc.record({ arrive: fc.nat(200), pauseMs: fc.nat(3_000) });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const queue = new RowQueue<number>();
        let next = 0;
        let counted = 0;
        let nowMs = 0;
        const drawn: number[] = [];
        for (const { arrive, pauseMs } of steps) {
          queue.push(Array.from({ length: arrive }, (_, index) => next + index));
          next += arrive;
          nowMs += pauseMs;
          const { rows, skipped } = queue.take(nowMs);
          drawn.push(...rows);
          counted += skipped;
          expect(drawn.length + counted + queue.waiting).toBe(next);
        }
        expect(drawn).toEqual([...drawn].sort((a, b) => a - b));
        expect(drawn.length).toBeLessThanOrEqual(ROWS_A_SECOND + (nowMs / 1_000) * ROWS_A_SECOND);
        for (let count = 0; count <= MAX_WAITING; count += ROWS_A_SECOND) {
          nowMs += 1_000;
          queue.take(nowMs);
        }
        expect(queue.waiting).toBe(0);
      }),
    );
  });
});

describe('the choices of the palette', () => {
  const page = (label: string) => ({ id: label, label, action: { href: `/${label}` } });

  it('are found by words in any order; those that begin with the text come first', () => {
    const items = [page('New control'), page('Controls'), page('Agents')];
    expect(matching(items, 'control').map(({ label }) => label)).toEqual(['Controls', 'New control']);
    expect(matching(items, 'control new').map(({ label }) => label)).toEqual(['New control']);
    expect(matching(items, '')).toHaveLength(3);
  });

  it('do not lead to the same address twice', () => {
    const groups = withoutRepeats([
      { name: 'Recent', items: [page('a')] },
      { name: 'Found', items: [page('a'), page('b')] },
      { name: 'More', items: [page('b')] },
    ]);
    expect(groups.map(({ name, items }) => [name, items.length])).toEqual([
      ['Recent', 1],
      ['Found', 1],
    ]);
  });

  it('have the pages that were opened last, each once, of those with a name only', () => {
    let pages: readonly RecentPage[] = [];
    for (const href of [
      '/agents/a',
      '/controls/1',
      '/controls',
      '/controls/new',
      '/traces?id=t',
      '/agents/a',
    ]) {
      pages = withRecentPage(pages, { href, title: `title of ${href}` });
    }
    expect(pages.map(({ href }) => href)).toEqual(['/agents/a', '/traces?id=t', '/controls/1']);
    expect(recentItems(pages)[0]?.label).toBe('Agent title of /agents/a');
    for (let id = 0; id < 20; id += 1) pages = withRecentPage(pages, { href: `/policies/${id}`, title: '' });
    expect(pages).toHaveLength(8);
  });
});
