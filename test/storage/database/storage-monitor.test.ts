import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  StorageError,
  type StorageState,
} from '../../../src/storage/database/storage-health/storage-state.js';
import { type StorageChecks, StorageMonitor } from '../../../src/storage/database/storage-monitor.js';

/** Every problem is told within this time. */
const TOLD_WITHIN_MS = 5_000;

/** A storage whose faults the test chooses. */
class FakeStorage implements StorageChecks {
  damageMayPass = false;
  verifying: unknown = null;
  writable: unknown = null;
  /** `silent` never answers. */
  writing: unknown = null;
  rescued: string | null | Error = null;
  readonly calls = { verify: 0, write: 0, rescue: 0 };

  async verify(): Promise<void> {
    this.calls.verify += 1;
    if (this.verifying !== null) throw this.verifying;
  }
  async verifyWritable(): Promise<void> {
    if (this.writable !== null) throw this.writable;
  }
  async write(): Promise<void> {
    this.calls.write += 1;
    if (this.verifying !== null) throw this.verifying;
    if (this.writing === 'silent') await new Promise(() => {});
    if (this.writing !== null) throw this.writing;
  }
  async rescue(): Promise<string | null> {
    this.calls.rescue += 1;
    if (this.rescued instanceof Error) throw this.rescued;
    return this.rescued;
  }
}

const sqlite = (rawCode: number) => Object.assign(new Error('of SQLite'), { rawCode });
const FULL = sqlite(13);
const INPUT_OUTPUT = sqlite(778);
const BUSY = sqlite(5);

describe('the monitor of the storage', () => {
  let storage: FakeStorage;
  let monitor: StorageMonitor;
  let states: StorageState[];
  let lines: { level: string; message: string; facts: Record<string, unknown> }[];

  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'setImmediate', 'performance'],
    });
    storage = new FakeStorage();
    states = [];
    lines = [];
    const told = (level: string, _kind: string, message: string, facts: object) =>
      void lines.push({ level, message, facts: facts as Record<string, unknown> });
    monitor = new StorageMonitor({ checks: storage, place: '/data/service.db', log: { told } });
    monitor.onChange((state) => states.push(state));
  });
  afterEach(async () => {
    await monitor.close();
    vi.useRealTimers();
  });

  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  const write = () => monitor.guardVerified(async () => 'done');

  it('is OK from the beginning, and stays so while probes succeed', async () => {
    monitor.watch();
    await pass(60_000);
    expect({ state: monitor.state, report: monitor.report, states }).toEqual({
      state: 'OK',
      report: null,
      states: [],
    });
    expect(storage.calls.write).toBeGreaterThan(10);
    expect(lines).toEqual([]);
  });

  it.each<[string, (broken: FakeStorage) => void, StorageState]>([
    [
      'a full disk',
      (broken) => {
        broken.writing = FULL;
      },
      'NOSPACE',
    ],
    [
      'a read-only server',
      (broken) => {
        broken.writing = { code: '25006' };
      },
      'READONLY',
    ],
    [
      'a file that may not be written',
      (broken) => {
        broken.writable = new StorageError('READONLY');
      },
      'READONLY',
    ],
    [
      'a file that was deleted',
      (broken) => {
        broken.verifying = new StorageError('REPLACED');
      },
      'REPLACED',
    ],
    [
      'a damaged file',
      (broken) => {
        broken.writing = sqlite(11);
      },
      'CORRUPT',
    ],
    [
      'a server that refuses connections',
      (broken) => {
        broken.writing = { code: 'ECONNREFUSED' };
      },
      'DOWN',
    ],
    [
      'a server that does not answer',
      (broken) => {
        broken.writing = 'silent';
      },
      'DOWN',
    ],
  ])('reports %s within 5 s, in one line', async (_what, breakIt, state) => {
    monitor.watch();
    await pass(10_000);
    breakIt(storage);
    await pass(TOLD_WITHIN_MS);
    expect(monitor.state).toBe(state);
    expect(monitor.report).toMatchObject({
      state,
      meaning: expect.stringMatching(/\.$/),
      advice: expect.stringMatching(/\.$/),
    });
    await pass(60_000);
    expect(states).toEqual([state]);
    expect(monitor.transitions.get(state)).toBe(1);
    expect(lines).toEqual([
      {
        level: 'error',
        message: expect.stringContaining('.'),
        facts: expect.objectContaining({ storage: state, database: '/data/service.db' }),
      },
    ]);
  });

  it('reports once that a problem is over, and for how long it lasted', async () => {
    monitor.watch();
    storage.writing = FULL;
    await pass(TOLD_WITHIN_MS);
    storage.writing = null;
    await pass(TOLD_WITHIN_MS);
    expect(states).toEqual(['NOSPACE', 'OK']);
    expect(lines[1]).toMatchObject({
      level: 'info',
      facts: { storage: 'OK', after: 'NOSPACE', seconds: expect.any(Number) },
    });
    expect(lines).toHaveLength(2);
  });

  it('detects a problem from work that fails, before any probe', async () => {
    monitor.watch();
    await pass(100);
    await expect(monitor.guard(() => Promise.reject(FULL))).rejects.toBe(FULL);
    expect(monitor.state).toBe('NOSPACE');
  });

  it('runs a probe for the cause of a vague error, and reports that cause from then on', async () => {
    monitor.watch();
    await pass(1_000);
    storage.writable = new StorageError('READONLY', { particular: 'the file may not be written' });
    await expect(monitor.guard(() => Promise.reject(INPUT_OUTPUT))).rejects.toBe(INPUT_OUTPUT);
    await pass(200);
    expect(monitor.state).toBe('READONLY');
    await expect(monitor.guard(() => Promise.reject(INPUT_OUTPUT))).rejects.toMatchObject({
      state: 'READONLY',
      message: expect.stringContaining('the file may not be written'),
    });
  });

  it('is not alarmed by one broken connection, nor by a lock that is held for long', async () => {
    monitor.watch();
    await pass(1_000);
    monitor.failed(new Error('Connection terminated unexpectedly'));
    storage.writing = BUSY;
    await pass(10_000);
    expect(states).toEqual([]);
  });

  it('does not write while real writes succeed, and does again when they end', async () => {
    monitor.watch();
    await pass(0);
    const before = storage.calls.write;
    for (let count = 0; count < 100; count += 1) {
      await write();
      await pass(500);
    }
    expect(storage.calls.write).toBe(before);
    await pass(10_000);
    expect(storage.calls.write).toBeGreaterThan(before);
  });

  it('continues writing while work succeeds that writes nothing', async () => {
    monitor.watch();
    await pass(0);
    storage.writing = FULL;
    for (let count = 0; count < 10; count += 1) {
      await monitor.guardVerified(
        async () => 'nothing to do',
        () => false,
      );
      await pass(500);
    }
    expect(monitor.state).toBe('NOSPACE');
  });

  it('ignores a probe that began before a problem was found', async () => {
    monitor.watch();
    let succeed = () => {};
    storage.write = () =>
      new Promise<void>((resolve) => {
        succeed = resolve;
      });
    await pass(1_500);
    await expect(monitor.guard(() => Promise.reject(FULL))).rejects.toBe(FULL);
    succeed();
    await pass(0);
    expect(monitor.state).toBe('NOSPACE');
  });

  it('takes a slow probe for no silence while real writes succeed', async () => {
    monitor.watch();
    await pass(2_000);
    storage.writing = 'silent';
    await pass(1_500);
    for (let count = 0; count < 10; count += 1) {
      await write();
      await pass(500);
    }
    expect(states).toEqual([]);
  });

  it('finds a server that answers again although a probe never got its answer', async () => {
    monitor.watch();
    await pass(2_000);
    storage.writing = 'silent';
    await pass(TOLD_WITHIN_MS);
    expect(monitor.state).toBe('DOWN');
    storage.writing = null;
    await pass(TOLD_WITHIN_MS);
    expect(monitor.state).toBe('OK');
  });

  it.each(['before', 'after'] as const)(
    'refuses a write when the file is found to be another one %s it, and every later one at once',
    async (moment) => {
      const replaced = new StorageError('REPLACED', { particular: 'its file was deleted' });
      if (moment === 'before') storage.verifying = replaced;
      let writes = 0;
      const work = async () => {
        writes += 1;
        storage.verifying = replaced;
      };
      await expect(monitor.guardVerified(work)).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        state: 'REPLACED',
        message: expect.stringContaining('its file was deleted'),
      });
      expect(writes).toBe(moment === 'before' ? 0 : 1);
      const { verify } = storage.calls;
      await expect(monitor.guardVerified(work)).rejects.toMatchObject({ state: 'REPLACED' });
      expect(writes).toBe(moment === 'before' ? 0 : 1);
      expect(storage.calls.verify).toBe(verify);
    },
  );

  it('takes writes again when the file has come back', async () => {
    monitor.watch();
    storage.verifying = new StorageError('REPLACED');
    await pass(TOLD_WITHIN_MS);
    await expect(write()).rejects.toMatchObject({ state: 'REPLACED' });
    storage.verifying = null;
    await pass(TOLD_WITHIN_MS);
    expect(await write()).toBe('done');
  });

  it('never considers a damaged file healed', async () => {
    monitor.watch();
    monitor.failed(sqlite(11));
    await pass(600_000);
    monitor.failed(FULL);
    await pass(600_000);
    expect(states).toEqual(['CORRUPT']);
    await expect(write()).rejects.toMatchObject({ state: 'CORRUPT' });
  });

  it('tries a server again a minute after it last reported damage', async () => {
    storage.damageMayPass = true;
    monitor.watch();
    monitor.failed({ code: 'XX001' });
    await pass(50_000);
    monitor.failed({ code: 'XX001' });
    await pass(50_000);
    expect(states).toEqual(['CORRUPT']);
    await pass(20_000);
    expect(states).toEqual(['CORRUPT', 'OK']);
  });

  it('remembers for that minute that a server is damaged, whatever else happens to it', async () => {
    storage.damageMayPass = true;
    monitor.watch();
    monitor.failed({ code: 'XX001' });
    monitor.unreachable(new Error('refused'));
    await pass(30_000);
    expect(states).toEqual(['CORRUPT', 'DOWN', 'CORRUPT']);
    await expect(write()).rejects.toMatchObject({ state: 'CORRUPT' });
    await pass(40_000);
    expect(states).toEqual(['CORRUPT', 'DOWN', 'CORRUPT', 'OK']);
  });

  it('saves what can be saved, once, and reports what it did', async () => {
    storage.rescued = 'the log was copied';
    monitor.watch();
    storage.verifying = new StorageError('REPLACED');
    await pass(60_000);
    expect(storage.calls.rescue).toBe(1);
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['error', expect.any(String)],
      ['warn', 'the log was copied'],
    ]);
  });

  it('tries to save it again until that succeeds, or until the problem has passed', async () => {
    storage.rescued = new Error('readers keep the log from being copied');
    monitor.watch();
    storage.verifying = new StorageError('REPLACED');
    await pass(10_000);
    expect(storage.calls.rescue).toBeGreaterThan(3);
    expect(lines[1]).toMatchObject({
      message: expect.stringMatching(/cannot be saved; it is tried again/),
      facts: { reason: 'readers keep the log from being copied' },
    });
    storage.rescued = 'the log was copied';
    await pass(10_000);
    expect(lines.at(-1)?.message).toBe('the log was copied');
    const { rescue } = storage.calls;
    await pass(10_000);
    expect(storage.calls.rescue).toBe(rescue);

    storage.verifying = null;
    await pass(10_000);
    storage.rescued = new Error('not yet');
    storage.verifying = new StorageError('REPLACED');
    await pass(10_000);
    storage.verifying = null;
    await pass(10_000);
    expect(monitor.state).toBe('OK');
    const { rescue: last } = storage.calls;
    await pass(10_000);
    expect(storage.calls.rescue).toBe(last);
  });

  it('takes what does not answer at all for down at once, and looks again when it answers', async () => {
    monitor.watch();
    await pass(1_000);
    monitor.unreachable(new Error('Connection terminated'));
    expect(monitor.state).toBe('DOWN');
    monitor.reachable();
    await pass(200);
    expect(monitor.state).toBe('OK');
  });

  it('does nothing by itself before it is started, and nothing after it was closed', async () => {
    await pass(60_000);
    monitor.failed(INPUT_OUTPUT);
    await pass(60_000);
    expect(storage.calls).toEqual({ verify: 0, write: 0, rescue: 0 });
    monitor.watch();
    await pass(0);
    await monitor.close();
    const { write: writes } = storage.calls;
    monitor.failed(INPUT_OUTPUT);
    await pass(60_000);
    expect(storage.calls.write).toBe(writes);
  });
});
