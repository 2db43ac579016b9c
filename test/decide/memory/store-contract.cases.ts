import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  ExchangeRequest,
  MemoryStore,
  SweepLimits,
} from '../../../src/decide/memory/store/memory-store.js';
import { generatedCases } from '../../support/generated-cases.js';
import { Follower, HOUR_US } from './follower.js';

/** A place with nothing in it, to which processes connect. */
export interface StorePlace {
  /** A store of another process, not opened yet. */
  connect(): MemoryStore;
  /** Removes the place. Stores are closed before. */
  drop(): Promise<void>;
}

const MINUTE_US = 60_000_000;
const SWEEP: Omit<SweepLimits, 'nowUs'> = {
  entriesBeforeUs: 0,
  agentsFrom: 1,
  maxBytes: 2 ** 40,
  rulesBeforeUs: 0,
};

/** What every store must do, whatever keeps it. */
export function describeMemoryStore(name: string, freshPlace: () => Promise<StorePlace>): void {
  describe(`the memory of controls in ${name}`, () => {
    let place: StorePlace;
    let places = 0;
    const stores: MemoryStore[] = [];

    beforeEach(async () => {
      place = await freshPlace();
      places += 1;
    });
    afterEach(async () => {
      for (const store of stores.splice(0)) await store.close();
      await place.drop();
    });
    afterAll(() => {
      expect(places).toBeGreaterThan(0);
    });

    async function connected(): Promise<MemoryStore> {
      const store = place.connect();
      stores.push(store);
      await store.open();
      return store;
    }
    /** A process that knows the epoch and the clock. */
    async function follower(namespace?: string): Promise<Follower> {
      const process = new Follower(await connected(), namespace);
      await process.look('nothing');
      return process;
    }
    const adding = (cell: string, ...entries: string[]) => ({
      cells: [cell],
      add: () => entries.map((entry) => ({ cell: 0, entry })),
    });

    it('has one key of hashes for all processes', async () => {
      const [one, two] = [place.connect(), place.connect()];
      stores.push(one, two);
      const keys = await Promise.all([one.open(), two.open(), one.open()]);
      expect(keys.map(({ hashKey }) => Buffer.from(hashKey).toString('hex'))).toEqual(
        Array.from({ length: 3 }, () => Buffer.from(keys[0]?.hashKey ?? []).toString('hex')),
      );
      expect(keys[0]?.hashKey).toHaveLength(32);
    });

    it('appends to cells, and tells processes what they do not know, from the first entry on', async () => {
      const [one, two] = [await follower(), await follower()];
      await one.commit(adding('a', '"1"', '"2"'));
      await one.commit(adding('b', '{"x":"\\u0000 \\"quoted\\" \u{1f600}\\ud800"}'));
      expect((await one.look('a', 'b')).news).toEqual([]);
      const { news, applied } = await two.look('a', 'b');
      expect(applied).toEqual([false]);
      expect(news.map(({ cell, version, checkpoint }) => [cell, version, checkpoint])).toEqual([
        [0, 2, null],
        [1, 1, null],
      ]);
      expect(two.of('a')).toEqual(one.of('a'));
      expect(two.of('b')).toEqual(one.of('b'));
      expect(await two.look('a', 'b')).toMatchObject({ applied: [true], news: [] });
    });

    it('takes additions to a cell that a process assumes not to exist, if it does not', async () => {
      const [one, two] = [await follower(), await follower()];
      const assumed = { version: 0, generation: 0, entries: [] };
      one.known.set('a', { ...assumed, entries: [] });
      two.known.set('a', { ...assumed, entries: [] });
      expect(await one.exchange([adding('a', '1')])).toMatchObject({ applied: [true], news: [] });
      expect(await two.exchange([adding('a', '2')])).toMatchObject({
        applied: [false],
        news: [{ version: 1 }],
      });
      expect(two.of('a')).toEqual(one.of('a'));
    });

    it('refuses a step whose cell has grown since, sends what is new of it, and takes the step then', async () => {
      const [one, two] = [await follower(), await follower()];
      await one.commit(adding('a', '1'));
      await two.look('a');
      await one.commit(adding('a', '2'));
      const refused = await two.exchange([adding('a', '3')]);
      expect(refused).toMatchObject({
        applied: [false],
        news: [{ cell: 0, version: 2, checkpoint: null, entries: ['2'] }],
      });
      expect(await two.exchange([adding('a', '3')])).toMatchObject({ applied: [true], news: [] });
      await one.look('a');
      expect(one.of('a').entries).toEqual(['1', '2', '3']);
    });

    // Cells of the groups of one exchange; `s` is stale, groups in capitals add to their last cell.
    const dirty: readonly (readonly [groups: string, applied: string])[] = [
      ['A', '1'],
      ['S', '0'],
      ['A S A', '101'],
      ['AS A', '00'],
      ['A AS A B', '1001'],
      ['AS AB B C', '0001'],
      ['SA BA B', '000'],
      ['s A', '01'],
      ['sa A', '00'],
      ['a A a AB b', '11111'],
      ['S s s', '000'],
      ['AB BC CS CD D A', '110001'],
      ['A A A A', '1111'],
    ];
    it.each(dirty)(
      'applies groups in order, and closes the cells of refused ones: %s gives %s',
      async (text, expected) => {
        const [one, two] = [await follower(), await follower()];
        await two.look('a', 'b', 'c', 'd', 's');
        await one.look('s');
        await one.commit(adding('s', '"other"'));
        const words = text.split(' ');
        const { applied } = await two.exchange(
          words.map((word, index) => ({
            cells: [...word.toLowerCase()],
            add: () =>
              word === word.toLowerCase()
                ? []
                : [{ cell: word.length - 1, entry: JSON.stringify(`${word}${index}`) }],
          })),
        );
        expect(applied.map(Number).join('')).toBe(expected);
        await one.look('a', 'b', 'c', 'd', 's');
        for (const cell of 'abcd') {
          const entries = words.flatMap((word, index) =>
            expected[index] === '1' && word.endsWith(cell.toUpperCase())
              ? [JSON.stringify(`${word}${index}`)]
              : [],
          );
          expect(one.of(cell).entries).toEqual(entries);
        }
        expect(one.of('s').entries).toEqual(['"other"']);
        await two.look('s');
        // What it assumed of its own additions is what others see.
        for (const cell of 'abcds') expect(two.of(cell)).toEqual(one.of(cell));
      },
    );

    it('applies a group with several cells as a whole or not at all', async () => {
      const [one, two] = [await follower(), await follower()];
      const both = {
        cells: ['a', 'b'],
        add: () => [
          { cell: 0, entry: '1' },
          { cell: 1, entry: '2' },
        ],
      };
      await two.look('a', 'b');
      await one.commit(adding('b', '0'));
      expect((await two.exchange([both])).applied).toEqual([false]);
      await one.look('a', 'b');
      expect([one.of('a').entries, one.of('b').entries]).toEqual([[], ['0']]);
      expect((await two.exchange([both])).applied).toEqual([true]);
      await one.look('a', 'b');
      expect([one.of('a').entries, one.of('b').entries]).toEqual([['1'], ['0', '2']]);
    });

    it('answers questions without keeping anything', async () => {
      const process = await follower();
      expect((await process.look('a', 'b')).applied).toEqual([false]);
      expect((await process.look('a', 'b')).applied).toEqual([true]);
      expect(await process.store.read('default', 'a')).toBeNull();
      const { uses } = await process.store.sweep({ ...SWEEP, nowUs: process.nowUs });
      expect(uses.reduce((sum, { cells }) => sum + cells, 0)).toBe(0);
    });

    it('tells a process that knows nothing the last checkpoint and the entries after it', async () => {
      const [one, two] = [await follower(), await follower()];
      await one.commit(adding('a', '1', '2'));
      await one.commit({
        cells: ['a'],
        add: () => [
          { cell: 0, entry: '3', checkpoint: '["1","2","3"]' },
          { cell: 0, entry: '4' },
          { cell: 0, entry: '5', checkpoint: '["1","2","3","4","5"]' },
          { cell: 0, entry: '6' },
        ],
      });
      const { news } = await two.look('a');
      expect(news).toMatchObject([
        { cell: 0, version: 6, checkpoint: { text: '["1","2","3","4","5"]', version: 5 }, entries: ['6'] },
      ]);
      await one.commit(adding('a', '7'));
      await two.look('a');
      expect(two.of('a').entries).toEqual(['1', '2', '3', '4', '5', '6', '7']);
      expect(one.of('a')).toEqual(two.of('a'));
    });

    it('tells a process that has fallen behind what it needs, whether or not older entries are still kept', async () => {
      const [writer, near, far] = [await follower(), await follower(), await follower()];
      await writer.commit(adding('a', '0'));
      await Promise.all([near.look('a'), far.look('a')]);
      const all = Array.from({ length: 600 }, (_, index) => String(index));
      await writer.commit(adding('a', ...all.slice(1, 400)));
      await writer.commit({
        cells: ['a'],
        add: () => [{ cell: 0, entry: '400', checkpoint: JSON.stringify(all.slice(0, 401)) }],
      });
      await near.look('a');
      expect(near.of('a').entries).toEqual(all.slice(0, 401));
      await writer.commit(adding('a', ...all.slice(401)));
      await writer.store.sweep({ ...SWEEP, nowUs: writer.nowUs, entriesBeforeUs: writer.nowUs });
      await Promise.all([near.look('a'), far.look('a')]);
      expect(near.of('a').entries).toEqual(all);
      expect(far.of('a').entries).toEqual(all);
      expect(await far.store.read('default', 'a')).toMatchObject({
        version: 600,
        checkpoint: { version: 401 },
        entries: all.slice(401),
      });
    });

    it('never takes the versions of a removed cell for those of a new one', async () => {
      const [one, two] = [await follower(), await follower()];
      await one.commit({
        cells: ['a'],
        add: (_, nowUs) => [{ cell: 0, entry: '"old"', expiresAtUs: nowUs }],
      });
      await two.look('a');
      const { expired } = await one.store.sweep({ ...SWEEP, nowUs: one.nowUs + 2 * HOUR_US });
      expect(expired).toBe(1);
      await one.commit(adding('a', '"new"'));
      expect(one.of('a').entries).toEqual(['"new"']);
      expect((await two.exchange([adding('a', '"late"')])).applied).toEqual([false]);
      expect(two.of('a').entries).toEqual(['"new"']);
      await one.store.sweep({ ...SWEEP, nowUs: one.nowUs + 3 * HOUR_US });
      await one.look('a');
      await two.look('a');
      expect([one.of('a').version, two.of('a')]).toEqual([0, { version: 0, generation: 0, entries: [] }]);
    });

    it('applies nothing of a process that knows another epoch, and tells it everything', async () => {
      const [one, two] = [await follower(), await follower()];
      await one.commit(adding('a', '1'));
      await two.look('a', 'b');
      two.epoch = 'another';
      const { applied, news } = await two.exchange([adding('a', '2'), adding('b', '3')]);
      expect(applied).toEqual([false, false]);
      expect(news).toMatchObject([
        { cell: 0, version: 1, checkpoint: null, entries: ['1'] },
        { cell: 1, version: 0, generation: 0, checkpoint: null, entries: [] },
      ]);
      expect((await two.exchange([adding('a', '2'), adding('b', '3')])).applied).toEqual([true, true]);
    });

    it('loses no update and repeats none, whatever steps processes send at the same time', async () => {
      const processes = await Promise.all([follower(), follower(), follower()]);
      const step = fc.record({
        process: fc.nat({ max: 2 }),
        cells: fc.uniqueArray(fc.nat({ max: 4 }), { minLength: 1, maxLength: 3 }),
        adds: fc.nat({ max: 2 }),
      });
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 24 }), async (steps) => {
          run += 1;
          const prefix = `${run}-`;
          const committed = new Map<string, string[]>();
          const work = processes.map(async (process, index) => {
            for (const [number, { process: owner, cells, adds }] of steps.entries()) {
              if (owner !== index) continue;
              const ids = cells.map((cell) => `${prefix}${cell}`);
              const entry = JSON.stringify(`${number}`);
              const added = ids.slice(0, Math.max(1, adds));
              await process.commit({ cells: ids, add: () => added.map((_, cell) => ({ cell, entry })) });
              for (const id of added) committed.set(id, [...(committed.get(id) ?? []), entry]);
            }
          });
          await Promise.all(work);
          const ids = Array.from({ length: 5 }, (_, cell) => `${prefix}${cell}`);
          for (const process of processes) {
            await process.look(...ids);
            for (const id of ids) {
              const { entries, version } = process.of(id);
              expect([...entries].sort()).toEqual([...(committed.get(id) ?? [])].sort());
              expect(version).toBe(entries.length);
              expect(entries).toEqual(processes[0]?.of(id).entries);
            }
          }
        }),
        { numRuns: generatedCases(40) },
      );
    });

    it('decides a step by all of its cells, also those that it adds nothing to', async () => {
      const [one, two] = await Promise.all([follower(), follower()]);
      // Each adds to its own cell if the other is empty: at most one of them may.
      for (let round = 0; round < 30; round += 1) {
        const [a, b] = [`a${round}`, `b${round}`];
        const exclusive = (own: string, other: string) => ({
          cells: [own, other],
          add: (known: readonly { readonly version: number }[]) =>
            known[1]?.version === 0 ? [{ cell: 0, entry: '1' }] : [],
        });
        for (const process of [one, two]) await process.look(a, b);
        await Promise.all([one.commit(exclusive(a, b)), two.commit(exclusive(b, a))]);
        await one.look(a, b);
        expect(one.of(a).version + one.of(b).version).toBe(1);
      }
    });

    it('does not block processes that use the same cells in different orders', async () => {
      const processes = await Promise.all([follower(), follower(), follower(), follower()]);
      const cells = Array.from({ length: 12 }, (_, index) => `cell ${index}`);
      await Promise.all(
        processes.map(async (process, index) => {
          for (let round = 0; round < 10; round += 1) {
            const turned = [...cells.slice(index * 3 + round), ...cells.slice(0, index * 3 + round)];
            const ids = [...new Set(round % 2 === 0 ? turned : turned.reverse())];
            await process.commit({ cells: ids, add: () => ids.map((_, cell) => ({ cell, entry: '1' })) });
          }
        }),
      );
      const [first] = processes;
      await first?.look(...cells);
      expect(cells.map((cell) => first?.of(cell).version)).toEqual(cells.map(() => 40));
    });

    it('takes large exchanges, and entries up to 64 KiB, but no longer ones', async () => {
      const [one, two] = [await follower(), await follower()];
      const ids = Array.from({ length: 300 }, (_, index) => `cell ${index}`);
      await one.look(...ids);
      const steps = Array.from({ length: 1_500 }, (_, index) =>
        adding(ids[index % 300] as string, String(index)),
      );
      expect((await one.exchange(steps)).applied.every(Boolean)).toBe(true);
      await two.look(...ids);
      expect(ids.map((id) => two.of(id))).toEqual(ids.map((id) => one.of(id)));

      const longest = JSON.stringify('x'.repeat(65_534));
      await one.commit(adding('long', longest));
      await two.look('long');
      expect(two.of('long').entries).toEqual([longest]);
      const refused = one.exchange([adding('long', `${longest} `)]);
      await expect(refused).rejects.toMatchObject({ name: 'MemoryStoreError' });
      await two.look('long');
      expect(two.of('long').version).toBe(1);
    });

    it('has a clock that goes on, and an offset that is set by the first of several processes', async () => {
      const [one, two] = [await follower(), await follower()];
      const { clock: before } = await one.look('a');
      const { clock: after } = await two.look('a');
      expect(after.storeUs).toBeGreaterThanOrEqual(before.storeUs);
      expect(Math.abs(before.storeUs / 1_000 - Date.now())).toBeLessThan(HOUR_US / 1_000);
      expect(before).toMatchObject({ offsetUs: 0, version: 0 });
      const set = await one.store.setOffset(-HOUR_US, 0);
      expect(set).toMatchObject({ offsetUs: -HOUR_US, version: 1, epoch: before.epoch });
      expect(await two.store.setOffset(5, 0)).toMatchObject({ offsetUs: -HOUR_US, version: 1 });
      expect((await two.look('a')).clock).toMatchObject({
        offsetUs: -HOUR_US,
        version: 1,
        epoch: before.epoch,
      });
      expect(await two.store.setOffset(5, 1)).toMatchObject({ offsetUs: 5, version: 2 });
    });

    it('knows since when rules are recorded, until no process had them for five minutes', async () => {
      const [one, two] = [await follower(), await follower()];
      const rules: ExchangeRequest['rules'] = ['h1.x', 'r.y', 'h1.x'].map((rule) => ({
        namespace: 'default',
        rule,
      }));
      const first = await one.exchange([], rules);
      const [since] = first.sinceUs;
      expect(first.sinceUs).toHaveLength(3);
      expect(since).toBeGreaterThanOrEqual(first.clock.storeUs - 10_000_000);
      expect(first.sinceUs[2]).toBe(since);
      // Memory time is that of the store with the offset.
      let version = 0;
      const later = async (us: number) => {
        await one.store.setOffset(us, version);
        version += 1;
        return (await two.exchange([adding(`cell ${version}`)], rules.slice(0, 1))).sinceUs;
      };
      expect(await later(4 * MINUTE_US)).toEqual([since]);
      expect(await later(8 * MINUTE_US)).toEqual([since]);
      const [anew] = await later(14 * MINUTE_US);
      expect(anew).toBeGreaterThanOrEqual((since as number) + 14 * MINUTE_US);
      const other = await two.exchange([], [{ namespace: 'another', rule: 'h1.x' }, ...rules.slice(1, 2)]);
      expect(other.sinceUs[0]).toBeGreaterThanOrEqual(anew as number);
      // 14 minutes without a process.
      expect(other.sinceUs[1]).toBeGreaterThan(since as number);
      await two.store.sweep({ ...SWEEP, nowUs: two.nowUs, rulesBeforeUs: two.nowUs + HOUR_US });
      const [forgotten] = await later(15 * MINUTE_US);
      expect(forgotten).toBeGreaterThanOrEqual((since as number) + 15 * MINUTE_US);
    });

    it('removes what has expired, in the hour after, and nothing else', async () => {
      const process = await follower();
      const ids = Array.from({ length: 1_100 }, (_, index) => `cell ${index}`);
      await process.look(...ids);
      const { nowUs } = process;
      const steps = ids.map((id, index) => ({
        cells: [id],
        add: () => [{ cell: 0, entry: '1', expiresAtUs: nowUs + (index < 1_000 ? 1 : 3) * HOUR_US }],
      }));
      expect((await process.exchange(steps)).applied.every(Boolean)).toBe(true);
      expect(await process.store.sweep({ ...SWEEP, nowUs })).toMatchObject({ expired: 0 });
      expect(await process.store.sweep({ ...SWEEP, nowUs: nowUs + 2 * HOUR_US })).toMatchObject({
        expired: 1_000,
        uses: [{ namespace: 'default', cells: 100, evicted: 0 }],
      });
      expect(await process.store.read('default', 'cell 999')).toBeNull();
      expect(await process.store.read('default', 'cell 1000')).toMatchObject({ version: 1, entries: ['1'] });
      expect(await process.store.sweep({ ...SWEEP, nowUs: nowUs + 5 * HOUR_US })).toMatchObject({
        expired: 100,
      });
    });

    it('counts the cells of a namespace by the agent that began them, and keeps all until they expire', async () => {
      const [here, there] = [await follower('here'), await follower('there')];
      const { nowUs } = here;
      const begin = async (id: string, agent: string, expiresAtUs: number): Promise<void> => {
        here.agent = agent;
        await here.commit({ cells: [id], add: () => [{ cell: 0, entry: '"x"', expiresAtUs }] });
      };
      for (const id of ['1', '2', '3']) await begin(id, 'one-agent_1', nowUs + HOUR_US);
      await begin('4', 'other:agent', nowUs + 3 * HOUR_US);
      // Another agent adds to it, which changes nothing.
      await begin('4', 'one-agent_1', nowUs + 3 * HOUR_US);
      await there.commit(adding('elsewhere', '1'));
      const usesAt = async (atUs: number, agentsFrom: number) =>
        (await here.store.sweep({ ...SWEEP, nowUs: atUs, agentsFrom, maxBytes: 0 })).uses.map((use) => [
          use.namespace,
          use.cells,
          Object.fromEntries(use.agents),
        ]);
      const [first, second] = await usesAt(nowUs, 2);
      expect(first).toEqual(['here', 4, { 'one-agent_1': 3, 'other:agent': 1 }]);
      expect(second?.slice(0, 2)).toEqual(['there', 1]);
      for (const id of ['1', '2', '3', '4']) expect(await here.store.read('here', id)).not.toBeNull();
      expect((await usesAt(nowUs + 2 * HOUR_US, 1))[0]).toEqual(['here', 1, { 'other:agent': 1 }]);
      expect((await here.store.read('here', '4'))?.label).toBe('label of 4');
    });

    it('lists the most used cells of a namespace, the fullest first', async () => {
      const [here, there] = [await follower('here'), await follower('there')];
      const shares = { low: 0.2, full: 1, high: 0.9, middle: 0.5 };
      for (const [id, used] of Object.entries(shares)) {
        await here.commit({
          cells: [id],
          add: () => [
            { cell: 0, entry: '0', used: 1 },
            { cell: 0, entry: '1', used },
          ],
        });
      }
      await there.commit({ cells: ['other'], add: () => [{ cell: 0, entry: '1', used: 1 }] });
      const listed = await here.store.mostUsed('here', 0.5, 10);
      expect(listed.map(({ id }) => id)).toEqual(['full', 'high', 'middle']);
      expect(listed[0]).toMatchObject({
        label: 'label of full',
        version: 2,
        checkpoint: null,
        entries: ['0', '1'],
      });
      expect((await here.store.mostUsed('here', 0, 2)).map(({ id }) => id)).toEqual(['full', 'high']);
      expect(await here.store.mostUsed('nowhere', 0, 10)).toEqual([]);
      expect(await here.store.read('there', 'full')).toBeNull();
    });

    it('keeps labels of any characters', async () => {
      const store = await connected();
      const { clock } = await store.exchange({ epoch: null, cells: [], groups: [], rules: [] });
      const labels = ['session "a\u0000b"', '\ud800', 'ö\u{1f600}', `${'long '.repeat(1_000)}`];
      const atUs = clock.storeUs;
      const request: ExchangeRequest = {
        epoch: clock.epoch,
        cells: labels.map((label, index) => ({
          id: `${index}`,
          namespace: 'default',
          label,
          agent: 'agent',
          known: 0,
          generation: 0,
        })),
        groups: labels.map((_, cell) => ({
          cells: [cell],
          additions: [{ cell, entry: '1', atUs, expiresAtUs: atUs + HOUR_US, used: 0, checkpoint: null }],
        })),
        rules: [],
      };
      expect((await store.exchange(request)).applied).toEqual([true, true, true, true]);
      expect((await store.read('default', '2'))?.label).toBe('ö\u{1f600}');
      expect((await store.read('default', '0'))?.label).toMatch(/^session "a.b"$/);
    });

    it('repairs a damaged checkpoint from the entries, and lets every process notice', async () => {
      const [one, two] = [await follower(), await follower()];
      await one.commit(adding('a', '1', '2'));
      await one.commit({ cells: ['a'], add: () => [{ cell: 0, entry: '3', checkpoint: '["damaged"]' }] });
      expect(await one.store.ledger('default', 'a')).toEqual({ firstVersion: 1, entries: ['1', '2', '3'] });
      expect(await one.store.ledger('another', 'a')).toMatchObject({ entries: [] });
      expect(await one.store.repair('default', 'a', 2, '["1","2"]')).toBe(false);
      expect(await one.store.repair('another', 'a', 3, '[]')).toBe(false);
      expect(await one.store.repair('default', 'a', 3, '["1","2","3"]')).toBe(true);
      expect(await one.store.read('default', 'a')).toMatchObject({
        version: 3,
        checkpoint: { text: '["1","2","3"]', version: 3 },
        entries: [],
      });
      expect((await one.exchange([adding('a', '4')])).applied).toEqual([false]);
      await one.commit(adding('a', '4'));
      await two.look('a');
      expect([one.of('a').entries, two.of('a').entries]).toEqual([
        ['1', '2', '3', '4'],
        ['1', '2', '3', '4'],
      ]);
    });

    it('removes everything of a namespace, and nothing of others', async () => {
      const [here, there] = [await follower('here'), await follower('there')];
      const ids = Array.from({ length: 250 }, (_, index) => `cell ${index}`);
      await here.look(...ids);
      await here.exchange(
        ids.map((id) => adding(id, '1')),
        [{ namespace: 'here', rule: 'r' }],
      );
      await there.commit(adding('other', '1'));
      await here.store.removeNamespace('here');
      const { uses } = await here.store.sweep({ ...SWEEP, nowUs: here.nowUs });
      expect(uses).toMatchObject([{ namespace: 'there', cells: 1 }]);
      await here.commit(adding('cell 1', '"new"'));
      expect(here.of('cell 1').entries).toEqual(['"new"']);
      await there.look('other');
      expect(there.of('other').entries).toEqual(['1']);
    });

    it('sweeps in several processes at once while others add', async () => {
      const [one, two, three] = await Promise.all([follower(), follower(), follower()]);
      // Everything has expired by then.
      const limits = { ...SWEEP, nowUs: one.nowUs + 3 * HOUR_US, entriesBeforeUs: one.nowUs + HOUR_US };
      const sweeping = [one, two].map(async ({ store }) => {
        for (let round = 0; round < 10; round += 1) await store.sweep(limits);
      });
      const adds = async () => {
        for (let index = 0; index < 60; index += 1) {
          await three.commit({
            cells: [`cell ${index % 20}`],
            add: ([known]) => [
              {
                cell: 0,
                entry: `${index}`,
                checkpoint: JSON.stringify([...(known?.entries ?? []), `${index}`]),
              },
            ],
          });
        }
      };
      await Promise.all([...sweeping, adds()]);
      const { uses } = await two.store.sweep(limits);
      expect(uses[0]?.cells ?? 0).toBe(0);
      await one.look('cell 19');
      await three.look('cell 19');
      expect(one.of('cell 19')).toEqual(three.of('cell 19'));
    });

    it('settles what is under way when it is closed, and refuses the rest', async () => {
      const process = await follower();
      const { store } = process;
      const sent = Array.from({ length: 20 }, (_, index) => {
        const other = new Follower(store);
        other.epoch = process.epoch;
        other.nowUs = process.nowUs;
        other.known.set(`cell ${index}`, { version: 0, generation: 0, entries: [] });
        return other.exchange([adding(`cell ${index}`, '1')]);
      });
      const closing = store.close();
      const results = await Promise.allSettled(sent);
      await closing;
      const after = await follower();
      for (const [index, result] of results.entries()) {
        if (result.status === 'rejected') {
          expect(result.reason).toMatchObject({ name: 'MemoryStoreError' });
          continue;
        }
        await after.look(`cell ${index}`);
        expect(after.of(`cell ${index}`).version).toBe(result.value.applied[0] === true ? 1 : 0);
      }
      await expect(store.exchange({ epoch: null, cells: [], groups: [], rules: [] })).rejects.toMatchObject({
        name: 'MemoryStoreError',
      });
      await store.close();
    });
  });
}
