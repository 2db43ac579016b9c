import { describe, expect, it } from 'vitest';
import { change, fakeStore, snapshotOf, withoutDeleted } from './support.js';

/** Two agents with one set, and one with another; all have control 1. */
async function threeAgents() {
  const store = fakeStore();
  store.define(1, 1, 2);
  store.define(2, 1, 3);
  store.assign('a', 1);
  store.assign('b', 1);
  store.assign('c', 2);
  const { snapshot, loaded, decidesBy } = snapshotOf(store, 100, withoutDeleted);
  snapshot.refreshAll(store.revision);
  await loaded('a', 'b', 'c');
  await store.settle();
  return { store, snapshot, decidesBy };
}

describe('after a change of controls', () => {
  it('only these are read, once for all sets', async () => {
    const { store, snapshot, decidesBy } = await threeAgents();
    const before = { ...store.asked };
    const revision = store.deleteControl(1);
    snapshot.follow([change(revision, { controls: [1] })]);
    await store.settle();
    expect(decidesBy('a')).toEqual({ controls: [2], revision });
    expect(decidesBy('c')).toEqual({ controls: [3], revision });
    expect(store.asked).toEqual({ ...before, definitions: 1, statements: before.statements + 1 });
  });

  it('all are read if another change comes while these are read', async () => {
    const { store, snapshot, decidesBy } = await threeAgents();
    snapshot.follow([change(store.deleteControl(1), { controls: [1] })]);
    await store.begun();
    store.define(1, 2, 4);
    snapshot.follow([change(store.revision, { policies: [1] })]);
    await store.settle();
    expect(decidesBy('a')).toEqual({ controls: [2, 4], revision: store.revision });
    expect(decidesBy('c')).toEqual({ controls: [3], revision: store.revision });
  });

  it('those of a change that comes while they are read are read, too', async () => {
    const { store, snapshot, decidesBy } = await threeAgents();
    snapshot.follow([change(store.deleteControl(1), { controls: [1] })]);
    await store.begun();
    snapshot.follow([change(store.deleteControl(2), { controls: [2] })]);
    await store.settle();
    expect(decidesBy('a')).toEqual({ controls: [], revision: store.revision });
    expect(decidesBy('c')).toEqual({ controls: [3], revision: store.revision });
  });

  it('a read at a revision whose changes are not known yet decides nothing', async () => {
    const { store, snapshot, decidesBy } = await threeAgents();
    const first = store.deleteControl(1);
    // Not reported to this process before the read.
    store.define(1, 2, 4);
    snapshot.follow([change(first, { controls: [1] })]);
    await store.settle();
    expect(decidesBy('a')).toEqual({ controls: [1, 2], revision: first - 1 });
    snapshot.follow([change(store.revision, { policies: [1] })]);
    await store.settle();
    expect(decidesBy('a')).toEqual({ controls: [2, 4], revision: store.revision });
  });

  it('all are read when these cannot be', async () => {
    const { store, snapshot, decidesBy } = await threeAgents();
    const before = { ...store.asked };
    const revision = store.deleteControl(1);
    snapshot.follow([change(revision, { controls: [1] })]);
    await store.begun();
    store.failOne();
    await store.settle();
    expect(decidesBy('a')).toEqual({ controls: [2], revision });
    expect(store.asked.sets).toBe(before.sets + 2);
  });
});
