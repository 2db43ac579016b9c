import { describe, expect, it } from 'vitest';
import { createWarmStart, type WarmStartOptions } from '../../../src/decide/decisions/warm-start.js';
import { until } from '../../support/until.js';
import { change, fakeStore, key, snapshotOf } from './support.js';

const HOUR_MS = 3_600_000;

/** Uses in memory, of which the test decides when they are read. */
function fakeUses(stored: string[] = []) {
  const recorded: { names: readonly string[]; atMs: number }[] = [];
  let isBroken = false;
  return {
    recorded,
    fail: () => {
      isBroken = true;
    },
    async record(names: readonly string[], atMs: number) {
      if (isBroken) throw new Error('no database');
      recorded.push({ names, atMs });
    },
    async lastUsed(limit: number) {
      if (isBroken) throw new Error('no database');
      return stored.slice(0, limit).map(key);
    },
    forgetBefore: async () => {},
  };
}

function warmStartOf(options: Pick<WarmStartOptions, 'snapshot' | 'uses'> & Partial<WarmStartOptions>) {
  const failed: string[] = [];
  const warmStart = createWarmStart({
    agents: 2,
    log: { info: () => {} },
    failures: { failed: (kind) => void failed.push(kind) },
    databaseUp: () => true,
    now: () => 5 * HOUR_MS,
    ...options,
  });
  return { warmStart, failed };
}

describe('a warm start', () => {
  it('loads the agents used last, and no others, before the process is ready', async () => {
    const store = fakeStore();
    for (const name of ['a', 'b', 'c']) store.store(name, 1);
    const { snapshot, decidesBy } = snapshotOf(store);
    snapshot.refreshAll(store.revision);
    const { warmStart } = warmStartOf({ snapshot, uses: fakeUses(['b', 'gone', 'a', 'c']), agents: 3 });
    warmStart.start();
    expect(warmStart.isLoading).toBe(true);
    await store.settle();
    await until(
      () => warmStart.isLoading,
      (isLoading) => !isLoading,
    );
    expect(snapshot.size).toBe(2);
    expect(decidesBy('a')).toEqual({ controls: [1], revision: 3 });
    expect(decidesBy('b')).toEqual({ controls: [1], revision: 3 });
    expect(decidesBy('c')).toBe('loading');
    await warmStart.close();
  });

  it('is over when the database does not answer, or takes too long', async () => {
    const store = fakeStore();
    store.store('a', 1);
    const { snapshot } = snapshotOf(store);
    const uses = fakeUses(['a']);
    const { warmStart: slow } = warmStartOf({ snapshot, uses, readyLimitMs: 1 });
    slow.start();
    await until(
      () => slow.isLoading,
      (isLoading) => !isLoading,
    );
    await store.settle();
    await slow.close();
    uses.fail();
    const { warmStart, failed } = warmStartOf({ snapshot, uses });
    warmStart.start();
    await until(
      () => failed,
      ([kind]) => kind === 'preload',
    );
    expect(warmStart.isLoading).toBe(false);
    await warmStart.close();
  });

  it('evicts no agent for one that is not used yet', async () => {
    const store = fakeStore();
    const names = Array.from({ length: 600 }, (_, index) => `agent-${index}`);
    for (const name of names) store.store(name, 1);
    const { snapshot, loaded } = snapshotOf(store, 550);
    snapshot.refreshAll(store.revision);
    await loaded('agent-599');
    const loading = snapshot.preload(names.map(key), () => false);
    await store.settle();
    expect(await loading).toBe(500);
    expect(snapshot.size).toBe(501);
  });

  it('records the agents that are used, each once in an hour, and none that were only loaded', async () => {
    const store = fakeStore();
    for (const name of ['a', 'b', 'c']) store.store(name, 1);
    const { snapshot, loaded, decidesBy } = snapshotOf(store);
    snapshot.refreshAll(store.revision);
    const loading = snapshot.preload([key('c')], () => false);
    await store.settle();
    await loading;
    await loaded('a', 'b');
    expect(snapshot.takeUsed(1).sort()).toEqual(['a', 'b']);
    decidesBy('a');
    expect(snapshot.takeUsed(1)).toEqual([]);
    decidesBy('b');
    decidesBy('c');
    expect(snapshot.takeUsed(2).sort()).toEqual(['b', 'c']);
    expect(snapshot.takeUsed(3)).toEqual([]);
  });

  it.each([
    ['records the last uses when the process stops', { agents: 2, databaseUp: () => true }, ['a']],
    ['records nothing unless agents are loaded at starts', { agents: 0, databaseUp: () => true }, undefined],
    ['records nothing while the database is down', { agents: 2, databaseUp: () => false }, undefined],
  ])('%s', async (_name, options, names) => {
    const store = fakeStore();
    store.store('a', 1);
    const { snapshot, loaded } = snapshotOf(store);
    await loaded('a');
    const uses = fakeUses();
    const { warmStart } = warmStartOf({ snapshot, uses, ...options });
    warmStart.start();
    await warmStart.close();
    expect(uses.recorded).toEqual(names === undefined ? [] : [{ names, atMs: 5 * HOUR_MS }]);
  });

  it('loads the agents used last first after a change of everything', async () => {
    const store = fakeStore();
    const names = Array.from({ length: 600 }, (_, index) => `agent-${index}`);
    for (const name of names) store.store(name, 1);
    const { snapshot, loaded, decidesBy } = snapshotOf(store, 1_000);
    snapshot.refreshAll(store.revision);
    await loaded(...names);
    snapshot.takeUsed(1);
    snapshot.takeUsed(1);
    decidesBy('agent-599');
    // One more than a batch, so that not all are read at once.
    snapshot.follow([{ ...change(store.store('agent-599', 2), {}), agents: 'any' }]);
    await store.begun();
    await store.step();
    await store.step();
    expect(decidesBy('agent-599')).toEqual({ controls: [2], revision: 601 });
    await store.settle();
  });
});
