import { describe, expect, it } from 'vitest';
import { snapshotOf as bareSnapshotOf, change, fakeStore, key, target } from './support.js';

const ONE = target('one');
const OTHER = target('other');

/** A store with an agent that has control 1, and a snapshot that knows its state. */
function scene(maxAgents?: number) {
  const store = fakeStore();
  store.store('agent', 1);
  const scene = bareSnapshotOf(store, maxAgents);
  const known = () => scene.snapshot.follow([change(store.revision, { agents: ['agent'] })]);
  known();
  /** Loads the agent with a target, and tells the controls that decide. */
  async function decided(of = ONE, agentName = 'agent') {
    const asked = scene.snapshot.programOf(key(agentName), of);
    await store.settle();
    return (await asked).program.controlIds;
  }
  /** Binds controls to a target, which this process follows. */
  function bound(of: typeof ONE, ...ids: number[]) {
    store.bind(of, ...ids);
    scene.snapshot.follow([change(store.revision, { targets: [of] })]);
  }
  return { store, ...scene, decided, bound };
}

describe('the controls of an agent that works on a target', () => {
  it('are its own and those that are bound, each once, and are loaded once', async () => {
    const { store, decided, bound, decidesBy } = scene();
    bound(ONE, 1, 5, 3);
    expect(await decided()).toEqual([1, 3, 5]);
    const { statements } = store.asked;
    expect(decidesBy('agent', 0, ONE)).toEqual({ controls: [1, 3, 5], revision: store.revision });
    expect(store.asked.statements).toBe(statements);
    expect(await decided(OTHER)).toEqual([1]);
  });

  it('are one set for all targets and agents with the same ones', async () => {
    const { store, snapshot, decided, bound } = scene();
    for (let at = 0; at < 50; at += 1) bound(target(`same-${at}`), 7, 8);
    for (let at = 0; at < 50; at += 1) expect(await decided(target(`same-${at}`))).toEqual([1, 7, 8]);
    store.store('linked-agent', 1, 7, 8);
    snapshot.follow([change(store.revision, { agents: ['linked-agent'] })]);
    const asked = snapshot.programOf(key('linked-agent'));
    await store.settle();
    await asked;
    expect(snapshot.sets).toBe(1);
    expect(snapshot.pairs).toBe(50);
    expect(store.asked.sets).toBe(1);
  });

  it('follow every change of bindings, of links and of controls', async () => {
    const { store, snapshot, decided, bound, decidesBy } = scene();
    bound(ONE, 5);
    expect(await decided()).toEqual([1, 5]);
    bound(ONE, 6);
    await store.settle();
    expect(decidesBy('agent', 0, ONE)).toEqual({ controls: [1, 6], revision: store.revision });
    store.store('agent', 2);
    snapshot.follow([change(store.revision, { agents: ['agent'] })]);
    await store.settle();
    expect(decidesBy('agent', 0, ONE)).toEqual({ controls: [2, 6], revision: store.revision });
    store.deleteControl(6);
    snapshot.follow([change(store.revision, { controls: [6] })]);
    await store.settle();
    expect(decidesBy('agent', 0, ONE)).toEqual({ controls: [2], revision: store.revision });
  });

  it('are the older ones, with their revision, until a change of another process is loaded', async () => {
    const { store, decided, bound, decidesBy } = scene();
    bound(ONE, 5);
    await decided();
    const before = store.revision;
    bound(ONE, 5, 6);
    expect(decidesBy('agent', 0, ONE)).toEqual({ controls: [1, 5], revision: before });
    expect(decidesBy('agent', before + 1, ONE)).toBe('loading');
    await store.settle();
    expect(decidesBy('agent', 0, ONE)).toEqual({ controls: [1, 5, 6], revision: before + 1 });
  });

  it('decide nothing more once this process has changed the bindings', async () => {
    const { store, snapshot, decided, bound, decidesBy } = scene();
    bound(ONE, 5);
    await decided();
    store.bind(ONE, 6);
    snapshot.changedHere(change(store.revision, { targets: [ONE] }));
    expect(decidesBy('agent', 0, ONE)).toBe('loading');
    await store.settle();
    expect(decidesBy('agent', 0, ONE)).toMatchObject({ controls: [1, 6] });
  });

  it('are not those of a change that came while they were read', async () => {
    const { store, snapshot, bound } = scene();
    bound(ONE, 5);
    const asked = snapshot.programOf(key('agent'), ONE);
    await store.begun();
    bound(ONE, 6);
    await store.settle();
    expect((await asked).revision(snapshot.progress)).toBe(store.revision);
    expect((await asked).program.controlIds).toEqual([1, 6]);
  });

  it('are those of the last known good file while the database does not answer', async () => {
    const { store, snapshot, bound } = scene();
    bound(ONE, 5);
    store.keep({ revision: store.revision, atMs: 0 });
    const asked = snapshot.programOf(key('agent'), ONE);
    await store.settle();
    expect(await asked).toMatchObject({ isKept: true, program: { controlIds: [1, 5] } });
  });
});

describe('a target without bindings', () => {
  it('is asked for once, and costs no entry', async () => {
    const { store, snapshot, decided, decidesBy } = scene();
    expect(await decided()).toEqual([1]);
    expect([snapshot.size, snapshot.pairs]).toEqual([1, 0]);
    const { statements } = store.asked;
    expect(decidesBy('agent', 0, ONE)).toEqual({ controls: [1], revision: store.revision });
    expect(store.asked.statements).toBe(statements);
  });

  it('has those that it is given later, in this process or another', async () => {
    for (const isHere of [false, true]) {
      const { store, snapshot, decided } = scene();
      await decided();
      store.bind(ONE, 5);
      const news = change(store.revision, { targets: [ONE] });
      if (isHere) snapshot.changedHere(news);
      snapshot.follow([news]);
      expect(await decided()).toEqual([1, 5]);
    }
  });

  it('is asked for again when anything may have changed, or the database was replaced', async () => {
    const { store, snapshot, decided } = scene();
    await decided();
    store.bind(ONE, 5);
    snapshot.refreshAll(store.revision);
    await store.settle();
    expect(await decided()).toEqual([1, 5]);
    store.bind(ONE);
    snapshot.startOver(store.revision);
    expect(await decided()).toEqual([1]);
  });

  it('is not taken for one on the word of a state that is not known here yet', async () => {
    const { store, snapshot, decided } = scene();
    // A change of another process that is not followed yet.
    store.bind(OTHER, 9);
    expect(await decided()).toEqual([1]);
    store.bind(ONE, 5);
    snapshot.follow([
      change(store.revision - 1, { targets: [OTHER] }),
      change(store.revision, { targets: [ONE] }),
    ]);
    await store.settle();
    expect(await decided()).toEqual([1, 5]);
  });

  it('does not make an agent exist, and names it without its namespace', async () => {
    const { store, snapshot } = scene();
    const asked = Promise.resolve(snapshot.programOf(key('nobody'), ONE)).catch((error: Error) => error);
    await store.settle();
    expect(await asked).toMatchObject({ code: 'AGENT_NOT_FOUND' });
    expect([snapshot.size, snapshot.pairs]).toEqual([0, 0]);
  });
});

describe('targets that callers choose', () => {
  it('displace each other, and no agents', async () => {
    const { store, snapshot, decided, loaded, bound } = scene(10);
    const names = Array.from({ length: 9 }, (_, index) => `agent-${index}`);
    for (const name of names) store.store(name, 1);
    snapshot.follow([change(store.revision, { agents: names })]);
    await loaded('agent', ...names);
    expect(snapshot.size).toBe(10);
    for (let at = 0; at < 100; at += 1) {
      const of = target(`bound-${at}`);
      bound(of, 5);
      expect(await decided(of)).toEqual([1, 5]);
      expect(snapshot.pairs).toBeLessThanOrEqual(11);
    }
    expect(snapshot.size).toBe(10);
    // One that is evicted is loaded again.
    expect(await decided(target('bound-0'))).toEqual([1, 5]);
  });

  it('are noted as used with their agents', async () => {
    const { snapshot, decided, bound } = scene();
    bound(ONE, 5);
    await decided();
    expect(snapshot.takeUsed(1)).toEqual([key('agent')]);
    expect(snapshot.takeUsed(1)).toEqual([]);
  });
});
