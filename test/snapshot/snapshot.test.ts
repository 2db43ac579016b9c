import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/errors/service-error.js';
import type { ControlProgram } from '../../src/evaluation/types.js';
import { Snapshot } from '../../src/snapshot/snapshot.js';

/** A database of programs whose loads end when the test says so. */
function fakeStore() {
  const versions = new Map<string, number>();
  const open: { agentName: string; finish: () => void; fail: () => void }[] = [];
  let loads = 0;
  let most = 0;
  const load = (agentName: string): Promise<ControlProgram | null> => {
    loads += 1;
    const version = versions.get(agentName);
    return new Promise((resolve, reject) => {
      const entry = {
        agentName,
        finish: () => resolve(version === undefined ? null : program(version)),
        fail: () => reject(new ServiceError('SERVICE_UNAVAILABLE', { detail: 'no database' })),
      };
      open.push(entry);
      most = Math.max(most, open.length);
    });
  };
  return {
    versions,
    load,
    loads: () => loads,
    mostAtOnce: () => most,
    /** Ends every load, also those that begin because of it. */
    async settle(how: 'finish' | 'fail' = 'finish'): Promise<void> {
      do {
        for (const entry of open.splice(0)) entry[how]();
        await new Promise((resolve) => setImmediate(resolve));
      } while (open.length > 0);
    },
  };
}

/** A program that can be told from others by its one control id. */
function program(version: number): ControlProgram {
  return {
    controlIds: [version],
    sizeBytes: 1_000,
    sharedParts: [],
    evaluate: () => {
      throw new Error('not evaluated here');
    },
  };
}

function snapshotOf(store: ReturnType<typeof fakeStore>, maxAgents = 10_000) {
  let time = 0;
  const snapshot = new Snapshot({ load: store.load, maxAgents, maxBytes: 10_000_000, now: () => time });
  return {
    snapshot,
    advance: (ms: number) => {
      time += ms;
    },
    async loaded(...agentNames: string[]): Promise<void> {
      const all = Promise.all(agentNames.map((agentName) => snapshot.programOf(agentName)));
      await store.settle();
      await all;
    },
    versionNow(agentName: string): number | 'loading' {
      const found = snapshot.programOf(agentName);
      if (!(found instanceof Promise)) return found.controlIds[0] ?? Number.NaN;
      found.catch(() => {});
      return 'loading';
    },
  };
}

describe('a snapshot', () => {
  it('loads an agent once, however many ask', async () => {
    const store = fakeStore();
    store.versions.set('agent', 1);
    const { snapshot, versionNow } = snapshotOf(store);
    const asked = Promise.all([snapshot.programOf('agent'), snapshot.programOf('agent')]);
    await store.settle();
    await asked;
    expect(versionNow('agent')).toBe(1);
    expect(store.loads()).toBe(1);
  });

  it('never gives the older program after a change of its own', async () => {
    const store = fakeStore();
    store.versions.set('agent', 1);
    const { snapshot, loaded, versionNow } = snapshotOf(store);
    await loaded('agent');
    store.versions.set('agent', 2);
    snapshot.controlChanged(1);
    expect(versionNow('agent')).toBe('loading');
    await store.settle();
    expect(versionNow('agent')).toBe(2);
  });

  it('does not take a load that began before a change for its result', async () => {
    const store = fakeStore();
    store.versions.set('agent', 1);
    const { snapshot, versionNow } = snapshotOf(store);
    const first = snapshot.programOf('agent');
    store.versions.set('agent', 2);
    snapshot.agentChanged('agent');
    await store.settle();
    expect((await first).controlIds).toEqual([2]);
    expect(versionNow('agent')).toBe(2);
  });

  it('decides by the older program until a change made elsewhere is loaded', async () => {
    const store = fakeStore();
    store.versions.set('agent', 1);
    const { snapshot, loaded, versionNow } = snapshotOf(store);
    await loaded('agent');
    store.versions.set('agent', 2);
    snapshot.refreshAll();
    expect(versionNow('agent')).toBe(1);
    await store.settle();
    expect(versionNow('agent')).toBe(2);
  });

  it('tries again what it could not load', async () => {
    const store = fakeStore();
    store.versions.set('agent', 1);
    const { snapshot, loaded, versionNow } = snapshotOf(store);
    await loaded('agent');
    store.versions.set('agent', 2);
    snapshot.refreshAll();
    await store.settle('fail');
    expect(versionNow('agent')).toBe(1);
    snapshot.catchUp();
    await store.settle();
    expect(versionNow('agent')).toBe(2);
  });

  it('refreshes thousands of agents a few at a time', async () => {
    const store = fakeStore();
    const names = Array.from({ length: 1_000 }, (_, index) => `agent-${index}`);
    for (const name of names) store.versions.set(name, 1);
    const { snapshot, versionNow } = snapshotOf(store, 2_000);
    for (const name of names) {
      const loading = snapshot.programOf(name);
      await store.settle();
      await loading;
    }
    for (const name of names) store.versions.set(name, 2);
    snapshot.refreshAll();
    await store.settle();
    expect(store.mostAtOnce()).toBeLessThanOrEqual(8);
    expect(names.map(versionNow).every((version) => version === 2)).toBe(true);
  });

  it('remembers an unknown agent for a second, and forgets that when it is registered', async () => {
    const store = fakeStore();
    const { snapshot, advance } = snapshotOf(store);
    const ask = async () => {
      const found = Promise.resolve(snapshot.programOf('agent')).then(
        () => 'found',
        (error: ServiceError) => error.code,
      );
      await store.settle();
      return found;
    };
    expect(await ask()).toBe('AGENT_NOT_FOUND');
    expect(await ask()).toBe('AGENT_NOT_FOUND');
    expect(store.loads()).toBe(1);
    advance(1_000);
    expect(await ask()).toBe('AGENT_NOT_FOUND');
    expect(store.loads()).toBe(2);
    store.versions.set('agent', 1);
    snapshot.agentChanged('agent');
    expect(await ask()).toBe('found');
  });

  it('makes room for new agents by those not asked for lately', async () => {
    const store = fakeStore();
    for (const name of ['a', 'b', 'c', 'd']) store.versions.set(name, 1);
    const { snapshot, loaded, versionNow } = snapshotOf(store, 3);
    await loaded('a');
    await loaded('b');
    await loaded('c');
    await loaded('d');
    expect(snapshot.size).toBe(3);
    expect(versionNow('d')).toBe(1);
    expect(versionNow('a')).toBe('loading');
    await store.settle();
  });
});
