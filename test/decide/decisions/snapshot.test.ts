import { describe, expect, it } from 'vitest';
import type { ServiceError } from '../../../src/contract/errors/service-error.js';
import { change, fakeStore, key, snapshotOf, withoutDeleted } from './support.js';

describe('a snapshot', () => {
  it('loads an agent once, however many request it', async () => {
    const store = fakeStore();
    store.store('agent', 1);
    const { snapshot, decidesBy } = snapshotOf(store);
    const asked = Promise.all([snapshot.programOf(key('agent')), snapshot.programOf(key('agent'))]);
    await store.settle();
    await asked;
    expect(decidesBy('agent')).toEqual({ controls: [1], revision: 1 });
    expect(store.asked).toMatchObject({ agents: 1, sets: 1 });
  });

  it('never gives the older program after a change of its own', async () => {
    const store = fakeStore();
    store.store('agent', 1);
    const { snapshot, loaded, decidesBy } = snapshotOf(store);
    await loaded('agent');
    const revision = store.store('agent', 2);
    snapshot.changedHere(change(revision, { controls: [1] }));
    expect(decidesBy('agent')).toBe('loading');
    await store.settle();
    expect(decidesBy('agent')).toEqual({ controls: [2], revision });
  });

  it('does not take a load that read before a change for its result', async () => {
    const store = fakeStore();
    store.store('agent', 1);
    const { snapshot, decidesBy } = snapshotOf(store);
    const first = snapshot.programOf(key('agent'));
    await store.begun();
    snapshot.changedHere(change(store.store('agent', 2), { agents: ['agent'] }));
    await store.settle();
    expect((await first).program.controlIds).toEqual([2]);
    expect(decidesBy('agent')).toEqual({ controls: [2], revision: 2 });
    expect(store.asked.agents).toBe(2);
  });

  it('does not take a read of controls for the result of a change that comes while it runs', async () => {
    const store = fakeStore();
    store.store('agent', 1);
    const { snapshot, loaded, decidesBy } = snapshotOf(store);
    snapshot.refreshAll(1);
    const first = snapshot.programOf(key('agent'));
    await store.begun();
    await store.step();
    // The links are read, and the controls are being read.
    expect(store.asked).toMatchObject({ agents: 1, sets: 1 });
    snapshot.follow([change(store.store('agent', 1), { controls: [1] })]);
    await store.settle();
    await first;
    expect(store.asked.sets).toBe(2);
    // Of an agent that is loaded already: the set that decides does not have that control.
    await loaded('agent');
    snapshot.follow([change(store.store('agent', 1, 2), { agents: ['agent'] })]);
    await store.begun();
    await store.step();
    expect(store.asked.sets).toBe(3);
    snapshot.follow([change(store.store('agent', 1, 2), { controls: [2] })]);
    await store.settle();
    expect(store.asked.sets).toBe(4);
    expect(decidesBy('agent')).toEqual({ controls: [1, 2], revision: 4 });
  });

  it('does not load again what was read after a change, however late that is reported', async () => {
    const store = fakeStore();
    store.store('agent', 1);
    const { snapshot, loaded, decidesBy } = snapshotOf(store);
    snapshot.refreshAll(1);
    store.store('agent', 2);
    await loaded('agent');
    snapshot.follow([change(2, { agents: ['agent'], controls: [2] })]);
    expect(decidesBy('agent')).toEqual({ controls: [2], revision: 2 });
    expect(store.asked).toMatchObject({ agents: 1, sets: 1 });
  });

  it('decides by the older program until a change made elsewhere is loaded, and reports that', async () => {
    const store = fakeStore();
    store.store('agent', 1);
    const { snapshot, loaded, decidesBy } = snapshotOf(store);
    snapshot.refreshAll(1);
    await loaded('agent');
    store.store('other', 9);
    store.store('agent', 2);
    snapshot.follow([change(2, { agents: ['other'] }), change(3, { agents: ['agent'] })]);
    expect(decidesBy('agent')).toEqual({ controls: [1], revision: 2 });
    // An evaluation that demands more waits for it.
    expect(decidesBy('agent', 2)).toEqual({ controls: [1], revision: 2 });
    expect(decidesBy('agent', 3)).toBe('loading');
    await store.settle();
    expect(decidesBy('agent', 3)).toEqual({ controls: [2], revision: 3 });
  });

  it('loads anew only the agents that a change concerns, and raises the revision of all', async () => {
    const store = fakeStore();
    store.store('a', 1);
    store.store('b', 2, 3);
    store.store('c', 3);
    const { snapshot, loaded, decidesBy } = snapshotOf(store, 100, withoutDeleted);
    snapshot.refreshAll(3);
    await loaded('a', 'b', 'c');
    expect(store.asked).toEqual({ agents: 3, sets: 3, definitions: 0, statements: 2 });
    store.revision = 6;
    snapshot.follow([change(4, { controls: [2] }), change(5, { agents: ['unheard-of'] }), change(6, {})]);
    await store.settle();
    expect(store.asked).toEqual({ agents: 3, sets: 3, definitions: 1, statements: 3 });
    store.revision = 7;
    snapshot.follow([change(7, { controls: [3] })]);
    await store.settle();
    expect(store.asked).toEqual({ agents: 3, sets: 3, definitions: 2, statements: 4 });
    for (const name of ['a', 'b', 'c']) expect(decidesBy(name)).toMatchObject({ revision: 7 });
  });

  it('does not take its own change for proof that it has what others did before', async () => {
    const store = fakeStore();
    store.store('agent', 1);
    const { snapshot, loaded, decidesBy } = snapshotOf(store);
    snapshot.refreshAll(1);
    await loaded('agent');
    // Revision 2 is of another process and not known yet.
    store.revision = 3;
    snapshot.changedHere(change(3, { agents: ['other'] }));
    expect(decidesBy('agent')).toEqual({ controls: [1], revision: 1 });
    snapshot.follow([change(2, { agents: ['agent'] }), change(3, { agents: ['other'] })]);
    expect(decidesBy('agent')).toEqual({ controls: [1], revision: 1 });
    await store.settle();
    expect(decidesBy('agent')).toEqual({ controls: [1], revision: 3 });
  });

  it('tries again what it could not load', async () => {
    const store = fakeStore();
    store.store('agent', 1);
    const { snapshot, loaded, decidesBy } = snapshotOf(store);
    await loaded('agent');
    snapshot.refreshAll(store.store('agent', 2));
    await store.settle('fail');
    expect(decidesBy('agent')).toMatchObject({ controls: [1] });
    snapshot.catchUp();
    await store.settle();
    expect(decidesBy('agent')).toMatchObject({ controls: [2] });
  });

  it('tracks since when its programs may be old', async () => {
    const store = fakeStore();
    store.store('agent', 1);
    store.store('other', 2);
    const { snapshot, loaded, advance, now } = snapshotOf(store);
    snapshot.refreshAll(2);
    snapshot.confirmCurrent(now());
    await loaded('agent', 'other');
    advance(100);
    expect(snapshot.oldestCurrentAtMs).toBe(0);
    snapshot.confirmCurrent(now());
    expect(snapshot.oldestCurrentAtMs).toBe(100);
    advance(100);
    snapshot.follow([change(store.store('agent', 3), { agents: ['agent'] })]);
    snapshot.confirmCurrent(now());
    await store.settle('fail');
    // The revision is known to be the latest, but the program is not.
    expect(snapshot.oldestCurrentAtMs).toBe(100);
    advance(100);
    snapshot.catchUp();
    await store.settle();
    snapshot.confirmCurrent(now());
    expect(snapshot.oldestCurrentAtMs).toBe(300);
  });

  it('drops everything when the database was replaced by an earlier state of it', async () => {
    const store = fakeStore();
    store.revision = 50;
    store.store('agent', 1);
    const { snapshot, loaded, decidesBy } = snapshotOf(store);
    snapshot.refreshAll(51);
    await loaded('agent');
    store.revision = 9;
    store.store('agent', 2);
    snapshot.startOver(10);
    expect(decidesBy('agent')).toBe('loading');
    await store.settle();
    expect(decidesBy('agent')).toEqual({ controls: [2], revision: 10 });
    snapshot.follow([change(store.store('agent', 3), { agents: ['agent'] })]);
    await store.settle();
    expect(decidesBy('agent')).toEqual({ controls: [3], revision: 11 });
  });

  it('gives up on a revision that the database does not have', async () => {
    const store = fakeStore();
    store.store('agent', 1);
    const { snapshot, loaded } = snapshotOf(store);
    await loaded('agent');
    snapshot.changedHere(change(1_000, { agents: ['agent'] }));
    const asked = Promise.resolve(snapshot.programOf(key('agent'))).catch(
      (error: ServiceError) => error.code,
    );
    for (let round = 0; round < 200; round += 1) await store.settle();
    expect(await asked).toBe('SERVICE_UNAVAILABLE');
  });

  it('reads thousands of agents by a few statements, at most two of a kind at a time', async () => {
    const store = fakeStore();
    const names = Array.from({ length: 1_000 }, (_, index) => `agent-${index}`);
    for (const name of names) store.store(name, 1);
    const { snapshot, loaded, decidesBy } = snapshotOf(store, 2_000);
    await loaded(...names);
    expect(store.asked.agents).toBe(1_000);
    expect(store.asked.statements).toBeLessThanOrEqual(6);
    for (const name of names) store.store(name, 2);
    snapshot.refreshAll(store.revision);
    await store.settle();
    expect(store.mostAtOnce()).toBeLessThanOrEqual(4);
    expect(store.asked.statements).toBeLessThanOrEqual(20);
    const expected = { controls: [2], revision: store.revision };
    for (const name of names) expect(decidesBy(name)).toEqual(expected);
  });

  it('loads a changed policy once for all its agents, whose links are not read again', async () => {
    const store = fakeStore();
    const names = Array.from({ length: 100 }, (_, index) => `agent-${index}`);
    store.define(7, 1, 2);
    store.define(8, 4);
    for (const name of names) store.assign(name, 7);
    store.assign('other', 8);
    const { snapshot, loaded, decidesBy } = snapshotOf(store, 200);
    snapshot.refreshAll(store.revision);
    await loaded(...names, 'other');
    expect([snapshot.size, snapshot.sets]).toEqual([101, 2]);
    expect(store.asked).toMatchObject({ agents: 101, sets: 2 });
    const revision = store.define(7, 1, 3);
    snapshot.follow([change(revision, { policies: [7] })]);
    for (const name of names) expect(decidesBy(name)).toEqual({ controls: [1, 2], revision: revision - 1 });
    expect(decidesBy('other')).toEqual({ controls: [4], revision });
    await store.settle();
    for (const name of names) expect(decidesBy(name)).toEqual({ controls: [1, 3], revision });
    expect(store.asked).toMatchObject({ agents: 101, sets: 3 });
  });

  it('lets no agent decide by a set that this process changed, until it is loaded', async () => {
    const store = fakeStore();
    store.define(7, 1);
    store.assign('a', 7);
    store.assign('b', 7);
    const { snapshot, loaded, decidesBy } = snapshotOf(store);
    snapshot.refreshAll(store.revision);
    await loaded('a', 'b');
    const revision = store.define(7, 2);
    snapshot.changedHere(change(revision, { policies: [7] }));
    expect([decidesBy('a'), decidesBy('b')]).toEqual(['loading', 'loading']);
    // The links of one of them change elsewhere: its old program must not come back.
    snapshot.follow([change(revision, { policies: [7] })]);
    snapshot.follow([change(store.assign('a', 7), { agents: ['a'] })]);
    expect(decidesBy('a')).toBe('loading');
    await store.settle();
    for (const name of ['a', 'b']) expect(decidesBy(name)).toMatchObject({ controls: [2] });
  });

  it('does not mix links of one revision with controls of another', async () => {
    const store = fakeStore();
    store.define(7, 1);
    store.assign('first', 7);
    const { snapshot, loaded, decidesBy } = snapshotOf(store);
    snapshot.refreshAll(store.revision);
    await loaded('first');
    const known = store.revision;
    // Another process puts a control into the policy, and then gives the policy to an agent.
    store.define(7, 1, 2);
    const revision = store.assign('second', 7);
    await loaded('second');
    expect(decidesBy('second')).toEqual({ controls: [1, 2], revision });
    expect(decidesBy('first')).toEqual({ controls: [1], revision: known });
    snapshot.follow([change(known + 1, { policies: [7] }), change(known + 2, { agents: ['second'] })]);
    await store.settle();
    for (const name of ['first', 'second']) expect(decidesBy(name)).toEqual({ controls: [1, 2], revision });
    // Both have the program of the set again.
    snapshot.follow([change(store.define(7, 3), { policies: [7] })]);
    const { sets } = store.asked;
    await store.settle();
    expect(store.asked.sets).toBe(sets + 1);
    for (const name of ['first', 'second']) expect(decidesBy(name)).toMatchObject({ controls: [3] });
  });

  it('does not take a read ahead of what is known for the result of a later change of its own', async () => {
    const store = fakeStore();
    store.revision = 8;
    store.store('agent', 5);
    const { snapshot, decidesBy } = snapshotOf(store);
    snapshot.refreshAll(9);
    store.revision = 12;
    const asked = snapshot.programOf(key('agent'));
    await store.begun();
    await store.step();
    // The links of revision 12 are read, and its controls are being read.
    expect(store.asked).toMatchObject({ agents: 1, sets: 1 });
    store.revision = 13;
    snapshot.changedHere(change(13, { controls: [5] }));
    await store.settle();
    expect((await asked).readRevision).toBe(13);
    expect(decidesBy('agent')).toEqual({ controls: [5], revision: 13 });
  });

  it('lets no agent decide whose links or controls changed elsewhere before its own change of them', async () => {
    const store = fakeStore();
    store.define(7, 1);
    store.store('linked', 2);
    store.assign('member', 7);
    const { snapshot, loaded, decidesBy } = snapshotOf(store);
    snapshot.refreshAll(store.revision);
    await loaded('linked', 'member');
    // Elsewhere one agent gets a policy, and the policy gets a control: neither is loaded yet.
    const assigned = store.assign('linked', 7);
    const defined = store.define(7, 1, 5);
    snapshot.follow([change(assigned, { agents: ['linked'] }), change(defined, { policies: [7] })]);
    expect(decidesBy('linked')).toMatchObject({ controls: [2] });
    expect(decidesBy('member')).toMatchObject({ controls: [1] });
    // Nothing that decides has control 5 yet, but the agents do.
    snapshot.changedHere(change(store.define(8), { controls: [5] }));
    expect([decidesBy('linked'), decidesBy('member')]).toEqual(['loading', 'loading']);
    await store.settle();
    for (const name of ['linked', 'member']) expect(decidesBy(name)).toMatchObject({ controls: [1, 5] });
  });

  it('shares one program among agents that were loaded ahead, once the changes are known', async () => {
    const store = fakeStore();
    store.define(7, 1);
    for (const name of ['a', 'b', 'c']) store.assign(name, 7);
    const { snapshot, loaded, decidesBy } = snapshotOf(store);
    await loaded('a', 'b', 'c');
    snapshot.follow(
      Array.from({ length: store.revision }, (_, index) => change(index + 1, { agents: ['another'] })),
    );
    await store.settle();
    snapshot.follow([change(store.revision + 1, {})]);
    const { agents, sets } = store.asked;
    snapshot.follow([change(store.define(7, 2) + 1, { policies: [7] })]);
    store.revision += 1;
    await store.settle();
    expect(store.asked).toMatchObject({ agents, sets: sets + 1 });
    for (const name of ['a', 'b', 'c']) expect(decidesBy(name)).toMatchObject({ controls: [2] });
  });

  it('drops a set with its last agent', async () => {
    const store = fakeStore();
    store.store('a', 1);
    store.store('b', 1);
    store.store('c', 2);
    const { snapshot, loaded } = snapshotOf(store, 3);
    snapshot.refreshAll(store.revision);
    await loaded('a', 'b', 'c');
    expect(snapshot.sets).toBe(2);
    // By other links, by its removal, and by eviction.
    snapshot.follow([change(store.store('c', 1), { agents: ['c'] })]);
    await store.settle();
    expect(snapshot.sets).toBe(1);
    for (const name of ['a', 'b']) snapshot.follow([change(store.remove(name), { agents: [name] })]);
    await store.settle();
    expect([snapshot.size, snapshot.sets]).toEqual([1, 1]);
    for (const name of ['d', 'e', 'f']) store.store(name, 9);
    snapshot.refreshAll(store.revision);
    await store.settle();
    await loaded('d', 'e', 'f');
    await loaded('d', 'e', 'f');
    expect([snapshot.size, snapshot.sets]).toEqual([3, 1]);
    snapshot.startOver(store.revision);
    expect([snapshot.size, snapshot.sets]).toEqual([0, 0]);
  });

  it('caches an unknown agent for a second, and drops that when it is registered', async () => {
    const store = fakeStore();
    const { snapshot, advance } = snapshotOf(store);
    const ask = async () => {
      const found = (async () => snapshot.programOf(key('agent')))().then(
        () => 'found',
        (error: ServiceError) => error.code,
      );
      await store.settle();
      return found;
    };
    expect(await ask()).toBe('AGENT_NOT_FOUND');
    expect(await ask()).toBe('AGENT_NOT_FOUND');
    expect(store.asked.agents).toBe(1);
    advance(1_000);
    expect(await ask()).toBe('AGENT_NOT_FOUND');
    expect(store.asked.agents).toBe(2);
    snapshot.follow([change(store.store('agent', 1), { agents: ['agent'] })]);
    expect(await ask()).toBe('found');
  });

  it('makes room for new agents by dropping those not requested lately', async () => {
    const store = fakeStore();
    for (const name of ['a', 'b', 'c', 'd']) store.store(name, 1);
    const { snapshot, loaded, decidesBy } = snapshotOf(store, 3);
    await loaded('a');
    await loaded('b');
    await loaded('c');
    await loaded('d');
    expect(snapshot.size).toBe(3);
    expect(decidesBy('d')).toMatchObject({ controls: [1] });
    expect(decidesBy('a')).toBe('loading');
    await store.settle();
  });
});
