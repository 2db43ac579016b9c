import { describe, expect, it } from 'vitest';
import { createStalenessLimit } from '../../../src/decide/decisions/staleness.js';
import { until } from '../../support/until.js';
import { change, fakeSource, fakeStore, key, snapshotOf, watchOf } from './support.js';

async function watched(minRevisionWaitMs = 3_600_000) {
  const store = fakeStore();
  const clock = snapshotOf(store);
  const { source, state, commit } = fakeSource();
  const { watch, states } = await watchOf(clock.snapshot, source, { now: clock.now, minRevisionWaitMs });
  return { store, ...clock, state, commit, watch, states };
}

describe('a revision watch', () => {
  it('loads a change once the database can be read again, even if loading failed when it was noticed', async () => {
    const { store, loaded, decidesBy, advance, watch, commit } = await watched();
    store.store('agent', 1);
    commit({ agents: ['agent'] });
    await watch.poll();
    await loaded('agent');
    store.store('agent', 2);
    commit({ agents: ['agent'] });
    await watch.poll();
    await store.settle('fail');
    // Until the change can be loaded the older program decides.
    expect(decidesBy('agent')).toEqual({ controls: [1], revision: 1 });
    advance(1_000);
    await watch.poll();
    await store.settle();
    expect(decidesBy('agent')).toEqual({ controls: [2], revision: 2 });
    advance(1_000);
    // Nothing is behind any more, so nothing is loaded without need.
    await watch.poll();
    expect(store.asked.agents).toBe(3);
    await watch.stop();
  });

  it('loads everything anew when the log does not contain what changed', async () => {
    const { store, loaded, watch, commit } = await watched();
    store.store('a', 1);
    store.store('b', 2);
    await loaded('a', 'b');
    store.revision = 3;
    commit({ agents: ['nobody'] });
    commit();
    commit({ agents: ['nobody'] });
    await watch.poll();
    await store.settle();
    expect(store.asked.agents).toBe(4);
    expect(watch.revision).toBe(3);
    await watch.stop();
  });

  it('looks for what others committed before its own change, and counts that as known only then', async () => {
    const { watch, commit, state } = await watched();
    commit({ agents: ['theirs'] });
    const revision = commit({ agents: ['ours'] });
    watch.committed(change(revision, { agents: ['ours'] }));
    expect(watch.revision).toBe(0);
    await until(
      () => watch.revision,
      (known) => known === revision,
    );
    expect(state.reads).toBe(2);
    watch.committed(change(commit({}), {}));
    expect(watch.revision).toBe(revision + 1);
    await watch.stop();
  });

  it('is waited for by an own change that others committed changes before, which it then applies with', async () => {
    const { store, loaded, decidesBy, watch, commit } = await watched();
    store.store('agent', 1);
    commit({ agents: ['agent'] });
    await watch.poll();
    await loaded('agent');
    // Elsewhere, the agent gets a control that is changed here next.
    store.store('agent', 2);
    commit({ agents: ['agent'] });
    const revision = commit({ controls: [2] });
    store.revision = revision;
    const known = watch.committed(change(revision, { controls: [2] }));
    expect(known).toBeInstanceOf(Promise);
    await known;
    expect(watch.revision).toBe(revision);
    // The older program does not decide any more: the caller of the change may evaluate at once.
    expect(decidesBy('agent')).toBe('loading');
    await store.settle();
    expect(decidesBy('agent')).toEqual({ controls: [2], revision });
    await watch.stop();
  });

  it('does not hold up an own change when the others do not become known', async () => {
    const { watch, commit, state } = await watched(1);
    state.hold = new Promise(() => {});
    commit({ agents: ['theirs'] });
    const revision = commit({ agents: ['ours'] });
    await watch.committed(change(revision, { agents: ['ours'] }));
    expect(watch.revision).toBe(0);
    await watch.stop();
  });

  it('follows own changes that overtake a read', async () => {
    const { watch, commit, state } = await watched();
    commit({});
    let finish = (): void => {};
    state.hold = new Promise((resolve) => {
      finish = resolve;
    });
    const poll = watch.poll();
    watch.committed(change(1, {}));
    watch.committed(change(commit({}), {}));
    finish();
    await poll;
    expect(watch.revision).toBe(2);
    await watch.stop();
  });

  it('is not led astray by hints that are missing, repeated or wrong', async () => {
    const { watch, commit, state } = await watched();
    for (const wrong of [0, undefined, 9_999, 9_999, undefined]) state.hint(wrong);
    await until(
      () => state.reads,
      (reads) => reads > 1,
    );
    expect(watch.revision).toBe(0);
    commit({});
    commit({});
    state.hint(2);
    await until(
      () => watch.revision,
      (known) => known === 2,
    );
    const { reads } = state;
    // Old news are no reason to read.
    state.hint(1);
    state.hint(2);
    commit({});
    state.hint(3);
    await until(
      () => watch.revision,
      (known) => known === 3,
    );
    expect(state.reads).toBe(reads + 1);
    await watch.stop();
  });

  it('reports when the database goes and comes back, and stops on request', async () => {
    const { watch, state, states } = await watched();
    state.broken = true;
    await watch.poll();
    await watch.poll();
    state.broken = false;
    await watch.poll();
    expect(states).toEqual([true, false, true]);
    await watch.stop();
    expect(state.closed).toBe(true);
  });

  it('rejects and closes its source when the database cannot be read at the start', async () => {
    const store = fakeStore();
    const { source, state } = fakeSource();
    state.broken = true;
    const starting = watchOf(snapshotOf(store).snapshot, source);
    await expect(starting).rejects.toMatchObject({ name: 'ServiceError', code: 'DATABASE_ERROR' });
    expect(state.closed).toBe(true);
  });

  it('notices that the database was restored to an earlier revision', async () => {
    const { store, watch, commit, state, loaded, decidesBy } = await watched();
    store.store('agent', 1);
    for (let count = 0; count < 5; count += 1) commit({});
    await watch.poll();
    store.revision = 5;
    await loaded('agent');
    state.revision = 2;
    store.revision = 2;
    await watch.poll();
    expect(watch.revision).toBe(2);
    expect(decidesBy('agent')).toBe('loading');
    await store.settle();
    expect(decidesBy('agent')).toEqual({ controls: [1], revision: 2 });
    await watch.stop();
  });

  it('has a restored database outrun what was known before, until that succeeds once', async () => {
    const { source, state, commit } = fakeSource();
    const asked: number[] = [];
    let works = false;
    const { snapshot, now, advance } = snapshotOf(fakeStore());
    const { watch } = await watchOf(snapshot, source, {
      now,
      async outrun(told) {
        asked.push(told);
        if (!works) throw new Error('the database takes no changes');
        state.revision = Math.max(state.revision, told + 1);
      },
    });
    for (let count = 0; count < 5; count += 1) commit({});
    await watch.poll();
    expect(asked).toEqual([]);
    state.revision = 2;
    await watch.poll();
    expect(asked).toEqual([5]);
    works = true;
    await watch.poll();
    // Not at every poll: those come many times a second.
    expect(asked).toEqual([5]);
    advance(1_000);
    await until(
      () => watch.poll().then(() => watch.revision),
      (revision) => revision === 6,
    );
    advance(1_000);
    await watch.poll();
    expect(asked).toEqual([5, 5]);
    await watch.stop();
  });
});

describe('a demanded revision', () => {
  it('is given when the watch has found it, by one read for many that require it', async () => {
    const { store, loaded, watch, commit, state } = await watched();
    store.store('agent', 1);
    await loaded('agent');
    store.store('agent', 2);
    commit({});
    commit({ agents: ['agent'] });
    const demanded = Array.from({ length: 50 }, () => watch.programOf(key('agent'), null, 2));
    await until(
      () => watch.revision,
      (known) => known === 2,
    );
    await store.settle();
    for (const found of demanded) {
      const { program } = await found;
      expect(program.controlIds).toEqual([2]);
    }
    expect(state.reads).toBeLessThanOrEqual(3);
    await watch.stop();
  });

  it('is at hand at once when the own process made it', async () => {
    const { store, loaded, watch, commit } = await watched();
    store.store('agent', 1);
    await loaded('agent');
    watch.committed(change(commit({}), {}));
    expect(watch.programOf(key('agent'), null, 1)).not.toBeInstanceOf(Promise);
    await watch.stop();
  });

  it('that never comes is refused after the wait', async () => {
    const { watch } = await watched(5);
    await expect(Promise.resolve(watch.programOf(key('agent'), null, 7))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('7'),
    });
    await watch.stop();
  });
});

it('a staleness limit reports how stale the controls are and why', () => {
  const refusal = (ageMs: number, up: boolean): string => {
    try {
      createStalenessLimit(
        30_000,
        () => 100_000,
        () => up,
      )(100_000 - ageMs);
      return 'none';
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(refusal(30_000, false)).toBe('none');
  expect(refusal(31_250, false)).toMatch(/31\.3 s old.* 30 s of SERVICE_MAX_STALENESS_SECONDS.*database/);
  expect(refusal(31_250, true)).toMatch(/could not be loaded/);
});
