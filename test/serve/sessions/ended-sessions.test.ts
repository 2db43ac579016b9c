import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/errors/service-error.js';
import type { EndedSession, EndedSessionStore } from '../../../src/serve/sessions/ended-session-store.js';
import { createEndedSessions } from '../../../src/serve/sessions/ended-sessions.js';
import { unavailable } from '../../../src/storage/database/errors.js';

const EXPIRES = { expiresAtMs: 10_000_000 };

/** A store that several processes share, and that can be away. */
function sharedStore() {
  const rows: (EndedSession & { readonly endedAtMs: number })[] = [];
  const state = { isAway: false, reads: 0 };
  const store: EndedSessionStore = {
    async add(session, endedAtMs) {
      if (state.isAway) throw unavailable('The database is away.');
      rows.push({ ...session, endedAtMs });
    },
    async endedSince(timeMs) {
      state.reads += 1;
      if (state.isAway) throw unavailable('The database is away.');
      return rows.filter(({ endedAtMs }) => endedAtMs >= timeMs);
    },
  };
  return { state, store };
}

function process(store: EndedSessionStore, clock: { ms: number }) {
  const failed: string[] = [];
  const failures = { failed: (kind: string) => failed.push(kind) };
  return { failed, ended: createEndedSessions({ store, failures, now: () => clock.ms }) };
}

describe('ended sessions', () => {
  it('are known at once where they end, and a second later elsewhere', async () => {
    const { store, state } = sharedStore();
    const clock = { ms: 1_000_000 };
    const [here, there] = [process(store, clock), process(store, clock)];
    expect([await here.ended.has('a'), await there.ended.has('a')]).toEqual([false, false]);
    await here.ended.end({ id: 'a', ...EXPIRES });
    expect(here.ended.has('a')).toBe(true);
    clock.ms += 999;
    expect(there.ended.has('a')).toBe(false);
    clock.ms += 1;
    const { reads } = state;
    expect(await Promise.all([there.ended.has('a'), there.ended.has('b')])).toEqual([true, false]);
    expect(state.reads).toBe(reads + 1);
    expect(there.ended.has('b')).toBe(false);
  });

  it('are known across clocks that differ by minutes, in either direction', async () => {
    const { store } = sharedStore();
    const [early, late] = [{ ms: 1_000_000 }, { ms: 1_000_000 + 9 * 60_000 }];
    const [behind, ahead] = [process(store, early), process(store, late)];
    expect([await behind.ended.has('a'), await ahead.ended.has('a')]).toEqual([false, false]);
    await behind.ended.end({ id: 'a', ...EXPIRES });
    late.ms += 1_000;
    expect(await ahead.ended.has('a')).toBe(true);
    await ahead.ended.end({ id: 'b', ...EXPIRES });
    early.ms += 1_000;
    expect(await behind.ended.has('b')).toBe(true);
  });

  it('are those that were read, while the database is away', async () => {
    const { store, state } = sharedStore();
    const clock = { ms: 1_000_000 };
    const { ended, failed } = process(store, clock);
    await ended.end({ id: 'a', ...EXPIRES });
    expect(await ended.has('b')).toBe(false);
    state.isAway = true;
    clock.ms += 5_000;
    expect([await ended.has('a'), await ended.has('b')]).toEqual([true, false]);
    expect(failed).toEqual(['ended sessions']);
    await expect(ended.end({ id: 'b', ...EXPIRES })).rejects.toThrow(ServiceError);
    expect(ended.has('b')).toBe(true);
  });

  it('are unknown, so that no session counts, until the database was read once', async () => {
    const { store, state } = sharedStore();
    const clock = { ms: 1_000_000 };
    const { ended } = process(store, clock);
    state.isAway = true;
    await expect(ended.has('a')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    state.isAway = false;
    expect(await ended.has('a')).toBe(false);
  });

  it('are read again when the clock was set back', async () => {
    const { store } = sharedStore();
    const clock = { ms: 5_000_000 };
    const { ended } = process(store, clock);
    expect(await ended.has('a')).toBe(false);
    clock.ms = 4_000_000;
    await store.add({ id: 'a', ...EXPIRES }, clock.ms + 500_000);
    expect(await ended.has('a')).toBe(true);
  });

  it('tell each watcher once, and none that stopped watching', async () => {
    const { store } = sharedStore();
    const { ended } = process(store, { ms: 1_000_000 });
    const told: string[] = [];
    ended.watch('a', () => told.push('first'));
    const stop = ended.watch('a', () => told.push('second'));
    ended.watch('b', () => told.push('other'));
    stop();
    await ended.end({ id: 'a', ...EXPIRES });
    await ended.end({ id: 'a', ...EXPIRES });
    expect(told).toEqual(['first']);
    ended.watch('a', () => told.push('late'));
    expect(told).toEqual(['first', 'late']);
    ended.close();
  });
});
