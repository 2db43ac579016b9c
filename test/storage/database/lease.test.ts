import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { createLease, createLeaseHolder, type Lease } from '../../../src/storage/database/lease.js';
import { describeOnEachDatabase } from '../../support/databases.js';

const LEASE_MS = 900;
const NOW = 1_760_000_000_000;

/** What a process does, and how much time passes before, in milliseconds. */
const STEP = fc.record({
  process: fc.nat(2),
  work: fc.constantFrom('acquire' as const, 'acquire', 'renew', 'release'),
  position: fc.option(fc.bigInt({ min: 0n, max: 2n ** 60n })),
  afterMs: fc.constantFrom(0, 1, LEASE_MS / 3, LEASE_MS - 1, LEASE_MS, 2 * LEASE_MS),
});
const STEPS = fc.array(STEP, { minLength: 1, maxLength: 20 });
/** How much the clocks of the processes are ahead, in milliseconds: they differ by less than the lease. */
const AHEAD = fc.tuple(...[0, 1, 2].map(() => fc.constantFrom(0, 1, LEASE_MS / 3, LEASE_MS - 1)));

describeOnEachDatabase('the lease of a background work', (freshDatabaseUrl) => {
  let database: Database;
  let works = 0;
  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
  });
  afterAll(() => database.close());

  /** The leases of processes for a new work, by the clocks of the processes. */
  function leasesOf(clocks: readonly (() => number)[]): Lease[] {
    works += 1;
    const name = `work ${works}`;
    return clocks.map((now) => createLease({ bulk: database.bulk, name, now, leaseMs: LEASE_MS }));
  }

  it('has one process at a time, until it is over by the clock of another one, with the last position', async () => {
    await fc.assert(
      fc.asyncProperty(AHEAD, STEPS, async (ahead, steps) => {
        let nowMs = NOW;
        const clocks = ahead.map((aheadMs) => () => nowMs + aheadMs);
        const leases = leasesOf(clocks);
        let holder: number | null = null;
        let untilMs = 0;
        let stored: bigint | null = null;
        for (const { process, work, position, afterMs } of steps) {
          nowMs += afterMs;
          const lease = leases[process] as Lease;
          const clockMs = (clocks[process] as () => number)();
          const isHolder = holder === process;
          if (work === 'acquire') {
            const isFree = holder === null || isHolder || untilMs <= clockMs;
            expect(await lease.acquire()).toEqual(isFree ? { position: stored } : null);
            if (!isFree) continue;
          } else {
            if (work === 'renew') expect(await lease.renew(position)).toBe(isHolder);
            else await lease.release(position);
            if (!isHolder) continue;
            stored = position ?? stored;
          }
          holder = work === 'release' ? null : process;
          untilMs = clockMs + LEASE_MS;
        }
      }),
      { numRuns: 60 },
    );
  });

  it('is taken by one of several processes that try at once', async () => {
    await fc.assert(
      fc.asyncProperty(AHEAD, async (ahead) => {
        const leases = leasesOf(ahead.map((aheadMs) => () => NOW + aheadMs));
        const taken = await Promise.all(leases.map((lease) => lease.acquire()));
        expect(taken.filter((one) => one !== null)).toEqual([{ position: null }]);
        const renewed = await Promise.all(leases.map((lease) => lease.renew(null)));
        expect(renewed).toEqual(taken.map((one) => one !== null));
      }),
      { numRuns: 10 },
    );
  });

  it('is taken over from a process whose wrong clock has made it endless', async () => {
    const [ahead, right] = leasesOf([() => NOW + 1_000_000_000, () => NOW]);
    await ahead?.acquire();
    expect(await right?.acquire()).toEqual({ position: null });
    expect(await ahead?.renew(1n)).toBe(false);
  });
});

describe('the holder of a lease', () => {
  function holding() {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const lease = {
      leaseMs: 15_000,
      acquire: vi.fn<Lease['acquire']>(),
      renew: vi.fn<Lease['renew']>(async () => true),
      release: vi.fn<Lease['release']>(async () => {}),
    };
    const work = { position: 0n };
    const holder = createLeaseHolder({
      ...{ lease, monotonic: Date.now, askedAtMs: Date.now() },
      position: () => work.position,
    });
    return { lease, work, holder };
  }

  it('renews it every 5 seconds, and within a second after work, and stores the position at the end', async () => {
    const { lease, work, holder } = holding();
    await vi.advanceTimersByTimeAsync(4_000);
    expect([lease.renew.mock.calls, holder.leftMs()]).toEqual([[], 9_000]);
    await vi.advanceTimersByTimeAsync(1_000);
    work.position = 7n;
    await vi.advanceTimersByTimeAsync(1_000);
    expect([lease.renew.mock.calls, holder.leftMs()]).toEqual([[[0n], [7n]], 13_000]);
    work.position = 8n;
    await holder.end();
    expect(lease.release.mock.calls).toEqual([[8n]]);
  });

  it('has lost it when another process has taken it: it is not given up for that one', async () => {
    const { lease, holder } = holding();
    lease.renew.mockResolvedValue(false);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(holder.leftMs()).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    await holder.end();
    expect([lease.renew.mock.calls.length, lease.release.mock.calls]).toEqual([1, []]);
  });

  it('has lost it before it expires while the database does not answer', async () => {
    const { lease, holder } = holding();
    lease.renew.mockRejectedValue(new Error('no answer'));
    await vi.advanceTimersByTimeAsync(13_000);
    expect(holder.leftMs()).toBe(0);
  });
});
