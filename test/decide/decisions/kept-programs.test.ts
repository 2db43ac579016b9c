import { describe, expect, it } from 'vitest';
import type { RecordedChange } from '../../../src/storage/database/change-log.js';
import { until } from '../../support/until.js';
import { change, fakeSource, fakeStore, key, snapshotOf, watchOf } from './support.js';

/** A process that was started while its database was away, by a file of revision 5 that was saved 30 seconds ago. */
async function blind(given: Parameters<typeof watchOf>[2] = {}) {
  const store = fakeStore();
  const clock = snapshotOf(store);
  clock.advance(100_000);
  const { source, state, commit } = fakeSource();
  state.broken = true;
  state.revision = 5;
  store.revision = 5;
  store.keep({ revision: 5, atMs: 70_000 });
  const told: (readonly RecordedChange[] | number)[] = [];
  const { watch, states } = await watchOf(clock.snapshot, source, {
    now: clock.now,
    kept: { revision: 5, currentAtMs: 70_000 },
    followers: [
      {
        changed: (changes) => told.push(changes),
        startOver: (revision) => told.push(revision),
        catchUp: () => {},
      },
    ],
    ...given,
  });
  async function decides(agentName: string) {
    const found = clock.snapshot.programOf(key(agentName));
    await store.settle();
    const loaded = await found;
    return {
      controls: loaded.program.controlIds,
      isKept: loaded.isKept,
      revision: loaded.revision(clock.snapshot.progress),
      ageMs: clock.now() - loaded.currentAtMs(clock.snapshot.progress),
    };
  }
  /** The database answers: what the file had is loaded from it. */
  const back = () => {
    state.broken = false;
    store.keep(null);
  };
  return { store, ...clock, state, commit, watch, states, told, decides, back };
}

describe('a process that is started without its database', () => {
  it('decides by programs of the file, and reports how old they are', async () => {
    const { store, watch, decides, advance } = await blind();
    store.store('agent', 1);
    expect(watch.isBlind).toBe(true);
    expect([watch.revision, watch.databaseUp]).toEqual([5, false]);
    expect(await decides('agent')).toEqual({ controls: [1], isKept: true, revision: 5, ageMs: 30_000 });
    advance(1_000);
    await watch.poll();
    expect(watch.isBlind).toBe(true);
    expect(await decides('agent')).toMatchObject({ isKept: true, ageMs: 31_000 });
    await watch.stop();
  });

  it('loads all of them anew when the database answers, and until then decides by the old ones', async () => {
    const { store, snapshot, watch, states, told, decides, decidesBy, back, state } = await blind();
    store.store('agent', 1);
    await decides('agent');
    store.store('agent', 2);
    state.revision = 8;
    back();
    await watch.poll();
    expect([watch.isBlind, watch.databaseUp, watch.revision]).toEqual([false, true, 8]);
    expect(states).toEqual([true]);
    expect(told).toEqual([
      [{ revision: 8, agents: 'any', controls: [], policies: [], targets: [], access: true }],
    ]);
    expect(decidesBy('agent')).toEqual({ controls: [1], revision: 5 });
    store.revision = 8;
    await store.settle();
    expect(decidesBy('agent')).toEqual({ controls: [2], revision: 8 });
    expect((await snapshot.programOf(key('agent'))).isKept).toBe(false);
    await watch.stop();
  });

  it('switches to the database also when that is at the same revision', async () => {
    const { store, watch, told, decides, decidesBy, back } = await blind();
    store.store('agent', 1);
    store.revision = 5;
    await decides('agent');
    store.store('agent', 3);
    store.revision = 5;
    back();
    await watch.poll();
    await store.settle();
    expect(decidesBy('agent')).toEqual({ controls: [3], revision: 5 });
    expect(told).toEqual([
      [{ revision: 5, agents: 'any', controls: [], policies: [], targets: [], access: true }],
    ]);
    await watch.stop();
  });

  it('gives a database that was restored to an earlier revision one that was never reported', async () => {
    const outrun: number[] = [];
    const { store, watch, told, decides, decidesBy, back, state } = await blind({
      outrun: async (revision) => void outrun.push(revision),
    });
    store.store('agent', 1);
    await decides('agent');
    state.revision = 3;
    store.revision = 3;
    back();
    await watch.poll();
    expect(outrun).toEqual([5]);
    expect(told).toEqual([5]);
    expect(decidesBy('agent')).toBe('loading');
    await watch.stop();
  });

  it('drops everything when the database is another one, at whatever revision', async () => {
    const outrun: number[] = [];
    const { store, watch, told, decides, decidesBy, back, state } = await blind({
      outrun: async (revision) => void outrun.push(revision),
    });
    store.store('agent', 1);
    await decides('agent');
    state.revision = 700;
    store.revision = 700;
    back();
    watch.replaced();
    await watch.poll();
    expect(told[0]).toBe(5);
    expect(outrun).toEqual([5]);
    expect(decidesBy('agent')).toBe('loading');
    await watch.stop();
  });

  it('lets callers wait for a revision that the file does not have', async () => {
    const { store, watch, back, state } = await blind({ minRevisionWaitMs: 30 });
    store.store('agent', 1);
    await expect(Promise.resolve(watch.programOf(key('agent'), null, 6))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
    const waiting = watch.programOf(key('agent'), null, 5);
    await store.settle();
    expect((await waiting).readRevision).toBe(5);
    state.revision = 6;
    back();
    await watch.stop();
  });
});

it('a start that has nothing to go by fails as ever', async () => {
  const { snapshot } = snapshotOf(fakeStore());
  const { source, state } = fakeSource();
  state.broken = true;
  await expect(watchOf(snapshot, source)).rejects.toMatchObject({ name: 'ServiceError' });
  expect(state.closed).toBe(true);
});

it('an agent that is loaded from the file during an outage is loaded again after it', async () => {
  const store = fakeStore();
  const { snapshot, now, loaded, advance } = snapshotOf(store);
  const { source, state, commit } = fakeSource();
  const { watch } = await watchOf(snapshot, source, { now });
  store.store('other', 9);
  commit({ agents: ['other'] });
  await watch.poll();
  state.broken = true;
  advance(1_000);
  await watch.poll();
  advance(1_000);
  store.keep({ revision: 1, atMs: 0 });
  store.store('agent', 1);
  await loaded('agent');
  const first = await snapshot.programOf(key('agent'));
  expect(first.isKept).toBe(true);
  // It is certainly right up to the moment when the database answered last.
  expect(now() - first.currentAtMs(snapshot.progress)).toBe(2_000);
  store.keep(null);
  state.broken = false;
  state.revision = store.revision;
  advance(1_000);
  await watch.poll();
  await until(
    async () => {
      await store.settle();
      return (await snapshot.programOf(key('agent'))).isKept;
    },
    (isKept) => !isKept,
  );
  await watch.stop();
});

it('a program that is loaded anew is demanded to be no older than the last one', async () => {
  const store = fakeStore();
  const { snapshot, loaded } = snapshotOf(store);
  store.store('agent', 1);
  store.revision = 7;
  await loaded('agent');
  snapshot.follow([change(3, { agents: ['agent'] })]);
  snapshot.changedHere(change(8, { agents: ['agent'] }));
  await store.settle('fail');
  expect(Math.max(...store.demanded)).toBe(8);
  const before = store.demanded.length;
  snapshot.changedHere(change(5, { agents: 'any' }));
  await store.settle('fail');
  expect(Math.max(...store.demanded.slice(before))).toBe(8);
});

it('an agent of the file that is forgotten is not loaded by itself', async () => {
  const store = fakeStore();
  const { snapshot, loaded } = snapshotOf(store, 1);
  store.keep({ revision: 1, atMs: 0 });
  store.store('first', 1);
  store.store('second', 2);
  await loaded('first');
  await loaded('second');
  await loaded('second');
  expect(snapshot.size).toBe(1);
  store.keep(null);
  const before = store.asked.agents;
  snapshot.catchUp();
  await store.settle();
  expect(store.asked.agents).toBe(before + 1);
});
