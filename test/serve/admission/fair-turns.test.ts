import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairTurns, Owner, type Pausable } from '../../../src/serve/admission/fair-turns.js';

/** Calls that one read of a connection brings at once, as Node.js reads up to 64 KiB. */
const CALLS_AT_ONCE = 50;

let lastOrder = 1;

/** A connection that has calls for the service as long as it is read. */
class FakeConnection implements Pausable {
  readonly owner: Owner;
  readonly callMs: number;
  calls: number;
  isRead = true;
  isNarrow = false;
  /** When it was read. */
  servedAtMs: number[] = [];
  /** Connections are ready in the order in which they were waited for. */
  order = 0;

  constructor(owner: Owner, calls: number, callMs = 0.1) {
    this.owner = owner;
    this.calls = calls;
    this.callMs = callMs;
    owner.add(this, true);
  }

  pause(): void {
    this.isRead = false;
  }

  resume(): void {
    this.isRead = true;
    this.order = lastOrder;
    lastOrder += 1;
  }

  narrow(): void {
    this.isNarrow = true;
  }

  widen(): void {
    this.isNarrow = false;
  }
}

/** An event loop with a clock of its own: each turn reads every connection that is read and has something to say. */
function eventLoop() {
  let nowMs = 0;
  let ends: (() => void)[] = [];
  let timers: { atMs: number; callback: () => void }[] = [];
  const turns = new FairTurns({
    now: () => nowMs,
    endOfTurn: (callback) => void ends.push(callback),
    after: (ms, callback) => void timers.push({ atMs: nowMs + ms, callback }),
  });
  function turn(connections: readonly FakeConnection[]): void {
    const due = timers.filter(({ atMs }) => atMs <= nowMs);
    timers = timers.filter(({ atMs }) => atMs > nowMs);
    for (const { callback } of due) callback();
    for (const connection of connections.toSorted((a, b) => a.order - b.order)) {
      const { owner } = connection;
      if (!connection.isRead || connection.calls <= 0) continue;
      connection.servedAtMs.push(nowMs);
      for (let call = 0; call < CALLS_AT_ONCE && connection.calls > 0; call += 1) {
        turns.callStarted(owner, connection);
        connection.calls -= 1;
        nowMs += connection.callMs;
      }
    }
    const ended = ends;
    ends = [];
    for (const end of ended) end();
    nowMs += 0.05;
  }
  return { turns, turn, now: () => nowMs };
}

describe('one active owner', () => {
  it('is never held up', () => {
    const { turns, turn } = eventLoop();
    const owner = new Owner(true);
    turns.add(owner);
    const connections = Array.from({ length: 20 }, () => new FakeConnection(owner, 1_000));
    for (let count = 0; count < 40; count += 1) {
      turn(connections);
      expect(connections.every(({ isRead }) => isRead)).toBe(true);
    }
    expect(connections.every(({ calls }) => calls <= 0)).toBe(true);
  });
});

describe('a busy owner', () => {
  it('yields a turn to another one after each share of its own', () => {
    const { turns, turn, now } = eventLoop();
    const busy = new Owner(true);
    const other = new Owner(true);
    turns.add(busy);
    turns.add(other);
    const flood = Array.from({ length: 64 }, () => new FakeConnection(busy, 1_000_000));
    const single = new FakeConnection(other, 0);
    let longestMs = 0;
    for (let count = 0; count < 500; count += 1) {
      const askedAtMs = now();
      single.calls = 1;
      while (single.calls > 0) turn([...flood, single]);
      // The first turns come before it is noticed that both are active.
      if (count > 20) longestMs = Math.max(longestMs, now() - askedAtMs);
    }
    // One read of one connection of the busy owner takes 5 ms.
    expect(longestMs).toBeLessThan(12);
    const served = flood.map(({ servedAtMs }) => servedAtMs.length);
    expect(Math.max(...served) - Math.min(...served)).toBeLessThanOrEqual(3);
    expect(flood.some(({ isNarrow }) => isNarrow)).toBe(true);
  });

  it('brings as much at once as before when it was not held up for a while', () => {
    const { turns, turn, now } = eventLoop();
    const busy = new Owner(true);
    const other = new Owner(true);
    turns.add(busy);
    turns.add(other);
    const flood = Array.from({ length: 4 }, () => new FakeConnection(busy, 2_000));
    const single = new FakeConnection(other, 1_000_000, 0.001);
    const connections = [...flood, single];
    while (flood.some(({ calls }) => calls > 0)) turn(connections);
    expect(flood.some(({ isNarrow }) => isNarrow)).toBe(true);
    for (const endMs = now() + 1_300; now() < endMs; ) turn(connections);
    expect(flood.some(({ isNarrow }) => isNarrow)).toBe(false);
  });
});

describe('connections without a key', () => {
  it('get a third of the time while others are active, and all of it when none is', () => {
    const { turns, turn, now } = eventLoop();
    const unknown = new Owner(false);
    const known = new Owner(true);
    turns.add(unknown);
    turns.add(known);
    const storm = Array.from({ length: 200 }, () => new FakeConnection(unknown, 1_000_000));
    const single = new FakeConnection(known, 1_000_000, 0.02);
    const callsOf = (connections: readonly FakeConnection[]) =>
      connections.reduce((sum, { calls }) => sum + calls, 0);
    const share = (connections: readonly FakeConnection[], ms: number) => {
      const before = callsOf(storm);
      const startMs = now();
      while (now() < startMs + ms) turn(connections);
      return ((before - callsOf(storm)) * 0.1) / (now() - startMs);
    };
    share([...storm, single], 500);
    const withOthers = share([...storm, single], 5_000);
    expect(withOthers).toBeGreaterThan(0.1);
    expect(withOthers).toBeLessThan(0.45);
    // A second later the other one is not active any more.
    share(storm, 1_200);
    expect(share(storm, 2_000)).toBeGreaterThan(0.8);
  });

  it('that are new have their turn before those that had theirs', () => {
    const { turns, turn, now } = eventLoop();
    const unknown = new Owner(false);
    const known = new Owner(true);
    turns.add(unknown);
    turns.add(known);
    const storm = Array.from({ length: 500 }, () => new FakeConnection(unknown, 1_000_000));
    const single = new FakeConnection(known, 1_000_000, 0.02);
    while (now() < 10_000) turn([...storm, single]);
    const fresh = new FakeConnection(unknown, 1);
    const startMs = now();
    while (fresh.calls > 0) turn([...storm, single, fresh]);
    expect(now() - startMs).toBeLessThan(200);
  });
});

it('every connection is served, in whatever order connections come and go', () => {
  const change = fc.record({
    connection: fc.nat(15),
    calls: fc.integer({ min: 0, max: 200 }),
    leaves: fc.nat(9),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const { turns, turn } = eventLoop();
      const owners = [new Owner(false), new Owner(true), new Owner(true)];
      for (const owner of owners) turns.add(owner);
      const connections = new Map<number, FakeConnection>();
      for (const { connection, calls, leaves } of changes) {
        const known = connections.get(connection);
        if (known === undefined) {
          connections.set(connection, new FakeConnection(owners[connection % 3] as Owner, calls));
        } else if (leaves === 0) {
          known.owner.remove(known);
          connections.delete(connection);
        } else known.calls += calls;
        turn([...connections.values()]);
      }
      const all = [...connections.values()];
      for (let count = 0; count < 5_000 && all.some(({ calls }) => calls > 0); count += 1) turn(all);
      expect(all.map(({ calls }) => calls)).toEqual(all.map(() => 0));
      expect(owners.reduce((sum, owner) => sum + owner.size, 0)).toBe(connections.size);
    }),
    { numRuns: 50 },
  );
});
