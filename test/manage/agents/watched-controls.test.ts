import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WatchedControls } from '../../../src/manage/agents/watched-controls.js';

type Stored = { id: number; name: string; data: string };

/** As good as any definition: nothing here looks into it. */
const present = ({ id, name, data }: Stored) => ({ id, name, control: { data } as never });

/** A reader that keeps the controls as it is told of them. */
function reader() {
  const held = new Map<number, string>();
  let seen = 0;
  const kinds: string[] = [];
  return {
    held,
    kinds,
    read(controls: WatchedControls) {
      if (controls.position === seen) return;
      const news = controls.newsSince(seen);
      seen = controls.position;
      kinds.push('full' in news ? 'full' : 'changed');
      if ('full' in news) held.clear();
      const upserted = 'full' in news ? news.full.controls : news.changed.upserted;
      for (const { id, name, control } of upserted) held.set(id, `${name} ${JSON.stringify(control)}`);
      for (const id of 'full' in news ? [] : news.changed.removed) held.delete(id);
    },
  };
}

const heldOf = (rows: readonly Stored[]) =>
  new Map(rows.map((row) => [row.id, `${row.name} ${JSON.stringify(present(row).control)}`]));

const rowsArbitrary = fc
  .uniqueArray(
    fc.record({
      id: fc.integer({ min: 1, max: 6 }),
      name: fc.constantFrom('a', 'b'),
      data: fc.constantFrom('x', 'y'),
    }),
    {
      selector: ({ id }) => id,
    },
  )
  .map((rows) => rows.toSorted((left, right) => right.id - left.id));
const eventArbitrary = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      rows: rowsArbitrary,
      readers: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant('start over' as const) },
);

describe('watched controls', () => {
  it('leave every reader with what is stored, whichever states it skipped', () => {
    fc.assert(
      fc.property(fc.array(eventArbitrary, { maxLength: 30 }), rowsArbitrary, (events, last) => {
        const controls = new WatchedControls();
        const readers = Array.from({ length: 4 }, reader);
        for (const event of events) {
          if (event === 'start over') controls.startOver();
          else {
            controls.take(event.rows, present);
            for (const [index, one] of readers.entries()) if (event.readers[index]) one.read(controls);
          }
        }
        controls.take(last, present);
        for (const one of readers) {
          one.read(controls);
          expect(one.held).toEqual(heldOf(last));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('have no news when the same is stored', () => {
    const controls = new WatchedControls();
    const rows = [{ id: 1, name: 'a', data: 'x' }];
    expect(controls.take([], present)).toBe(true);
    expect(controls.take([], present)).toBe(false);
    expect(controls.take(rows, present)).toBe(true);
    expect(controls.take(rows, present)).toBe(false);
    expect(controls.newsSince(1)).toMatchObject({ changed: { upserted: [{ id: 1 }], removed: [] } });
  });

  it('send everything after they started over, even when the same is stored', () => {
    const controls = new WatchedControls();
    const one = reader();
    controls.take([{ id: 1, name: 'a', data: 'x' }], present);
    one.read(controls);
    controls.startOver();
    expect(controls.take([{ id: 1, name: 'a', data: 'x' }], present)).toBe(true);
    one.read(controls);
    expect(one.kinds).toEqual(['full', 'full']);
  });

  it('remember a bounded number of removals, and send everything to readers that missed older ones', () => {
    const controls = new WatchedControls();
    const slow = reader();
    const quick = reader();
    const row = (id: number) => ({ id, name: 'a', data: 'x' });
    controls.take([row(1)], present);
    slow.read(controls);
    for (let id = 2; id < 2_000; id += 1) {
      controls.take([row(id)], present);
      quick.read(controls);
    }
    slow.read(controls);
    expect(slow.kinds).toEqual(['full', 'full']);
    expect(slow.held).toEqual(heldOf([row(1_999)]));
    expect(quick.held).toEqual(slow.held);
    expect(quick.kinds.filter((kind) => kind === 'full')).toHaveLength(1);
  });

  it('stay what they are when a control cannot be presented', () => {
    const controls = new WatchedControls();
    controls.take([{ id: 1, name: 'a', data: 'x' }], present);
    const refuse = () => {
      throw new Error('damaged');
    };
    expect(() => controls.take([{ id: 2, name: 'b', data: 'y' }], refuse)).toThrow('damaged');
    expect(controls.position).toBe(1);
    expect(controls.has(1)).toBe(true);
  });
});
