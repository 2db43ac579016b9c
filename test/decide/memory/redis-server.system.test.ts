import { existsSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createRedisMemoryStore } from '../../../packages/memory-redis/src/index.js';
import { type RedisServer, startRedisServer } from '../../../scripts/redis-server.mjs';
import type { MemoryStore } from '../../../src/decide/memory/store/memory-store.js';
import { caseSeed, Random } from '../../serve/wire/random.js';
import { withGrowingTime } from '../../support/growing-time.js';
import { redisCommand } from '../../support/redis-cluster.js';
import { until } from '../../support/until.js';
import { countOf, engine, key, limited } from './engine.support.js';
import { Follower, HOUR_US } from './follower.js';

const SHORT_MS = 300;
const LONG_MS = 300_000;
const ONE = { cells: ['a'], add: () => [{ cell: 0, entry: '1' }] };

const opened: MemoryStore[] = [];
const warnings: string[] = [];
function storeAt(url: string, timeoutMs = LONG_MS, volatile: 'refuse' | 'accept' = 'refuse'): MemoryStore {
  const onVolatile = (reason: string | null) => {
    if (reason !== null) warnings.push(reason);
  };
  const store = createRedisMemoryStore({ url, volatile, timeoutMs, onVolatile });
  opened.push(store);
  return store;
}
async function follower(store: MemoryStore, namespace?: string): Promise<Follower> {
  await store.open();
  const process = new Follower(store, namespace);
  await process.look('nothing');
  return process;
}
const refusal = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => new Error('it was not refused'),
    (reason: Error) => reason,
  );
  expect(error.name).toBe('MemoryStoreError');
  return error.message;
};

/** Waits until the server answers again; an answer that stays an error is told at the end. */
const reached = (work: () => Promise<unknown>) =>
  until(
    () =>
      work().then(
        () => 'reached',
        (error: Error) => error.message,
      ),
    (answer) => answer === 'reached',
  );

const servers: RedisServer[] = [];
async function started(...flags: string[]): Promise<RedisServer> {
  const server = await startRedisServer({ flags });
  servers.push(server);
  return server;
}
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  warnings.splice(0);
});
afterAll(async () => {
  for (const server of servers) await server.stop();
});

describe('a server of Redis is refused', () => {
  it.each([
    ['that keeps nothing on disk', ['--appendonly', 'no'], /keeps nothing on disk; set `appendonly yes`/],
    [
      'that answers long before it writes to its disk',
      ['--appendfsync', 'no'],
      /\(appendfsync no\); set `appendfsync always`/,
    ],
    [
      'that may evict keys',
      ['--maxmemory', '100mb', '--maxmemory-policy', 'volatile-lru'],
      /may evict keys \(maxmemory-policy volatile-lru\); set `maxmemory-policy noeviction`/,
    ],
  ])('%s, unless that is accepted', async (_name, flags, message) => {
    const { url } = await started(...flags);
    expect(await refusal(storeAt(url).open())).toMatch(message);
    expect(warnings).toEqual([]);
    const process = await follower(storeAt(url, LONG_MS, 'accept'));
    expect(await process.commit(ONE)).toBeLessThanOrEqual(2);
    expect(warnings).toEqual([expect.stringMatching(message)]);
  });

  it('that is a replica', async () => {
    const main = await started();
    const replica = await started('--replicaof', main.host, String(main.port));
    expect(await refusal(storeAt(replica.url).open())).toMatch(
      /is a replica; name the server that takes writes/,
    );
  });

  it('that is a node of a cluster, or is none, other than the address says', async () => {
    const node = await started('--cluster-enabled', 'yes');
    expect(await refusal(storeAt(node.url).open())).toMatch(/node of a cluster; add \?cluster=true/);
    const alone = await started();
    expect(await refusal(storeAt(`${alone.url}?cluster=true`).open())).toMatch(
      /cluster support disabled|All the root/,
    );
  });

  it('whose database does not exist, or has something else at the keys of the memory', async () => {
    const { url } = await started('--databases', '2');
    expect(await refusal(storeAt(`${url}/2`).open())).toMatch(/\/2: .*DB index is out of range/);
    await redisCommand(url, 'SET', '{ces}:clock', 'x');
    expect(await refusal(storeAt(url).open())).toMatch(/WRONGTYPE.*give the service a database of its own/);
    await redisCommand(`${url}/1`, 'HSET', '{ces}:clock', 'epoch', 'e', 'layout', '2');
    expect(await refusal(storeAt(`${url}/1`).open())).toMatch(/another version of the service \(layout 2\)/);
  });

  it('that does not know the password, which no message repeats', async () => {
    const { host, port } = await started('--requirepass', 'right-secret');
    const messages = await Promise.all(
      [
        `redis://${host}:${port}`,
        `redis://:wrong-secret@${host}:${port}`,
        `redis://me:wrong-secret@${host}:${port}`,
      ].map((url) => refusal(storeAt(url).open())),
    );
    expect(messages[0]).toMatch(/NOAUTH.*put user and password into SERVICE_MEMORY_STORE/);
    for (const message of messages.slice(1)) {
      expect(message).toMatch(/WRONGPASS.*check user and password in SERVICE_MEMORY_STORE/);
      expect(message).not.toMatch(/secret/);
    }
    const process = await follower(storeAt(`redis://:right-secret@${host}:${port}`));
    expect(await process.commit(ONE)).toBeLessThanOrEqual(2);
  });

  it('whose user lacks rights, and works with the ones that the message names', async () => {
    const { url, host, port } = await started();
    await redisCommand(
      url,
      'ACL',
      'SETUSER',
      'weak',
      'on',
      '>secret',
      '~{ces*',
      '+@read',
      '+@write',
      '+info',
    );
    const weak = `redis://weak:secret@${host}:${port}`;
    expect(await refusal(storeAt(weak).open())).toMatch(/NOPERM.*@read, @write and @scripting, INFO/);
    await redisCommand(url, 'ACL', 'SETUSER', 'weak', '+@scripting', '+time');
    const process = await follower(storeAt(weak));
    expect(await process.commit(ONE)).toBeLessThanOrEqual(2);
    expect(warnings).toEqual([
      expect.stringMatching(/does not tell its appendfsync \(CONFIG GET is not allowed\)/),
    ]);
    await redisCommand(url, 'ACL', 'SETUSER', 'weak', '+config|get');
    await follower(storeAt(weak));
    expect(warnings).toHaveLength(1);
    expect(await process.store.sweep({ ...SWEEP, nowUs: process.nowUs })).toMatchObject({ expired: 0 });
    await process.store.removeNamespace('default');
  });
});

it('a server of Redis that is late with its disk is used with a warning, until it is not', async () => {
  const server = await started('--appendfsync', 'everysec');
  const process = await follower(storeAt(server.url));
  expect(await process.commit(ONE)).toBeLessThanOrEqual(2);
  expect(warnings).toEqual([
    expect.stringMatching(/can lose the last two seconds \(appendfsync everysec\).*set `appendfsync always`/),
  ]);
  await redisCommand(server.url, 'CONFIG', 'SET', 'appendfsync', 'always');
  await follower(storeAt(server.url));
  expect(warnings).toHaveLength(1);
});

const SWEEP = { entriesBeforeUs: 0, agentsFrom: 1_000, maxBytes: 2 ** 40, rulesBeforeUs: 0 };

describe('the memory in Redis', () => {
  it('keeps what was acknowledged when the server is killed between any two exchanges, and begins an epoch', async () => {
    const server = await started();
    const process = await follower(storeAt(server.url));
    const epochs = new Set<string | null>([process.epoch]);
    for (let round = 1; round <= 5; round += 1) {
      await process.commit(ONE);
      await server.kill();
      await server.resume();
      await reached(() => process.look('a'));
      expect(process.of('a').entries).toHaveLength(round);
      epochs.add(process.epoch);
    }
    expect(epochs.size).toBe(6);
  });

  it('is read anew after a restart of the server, and lost only if the server was emptied', async () => {
    const server = await started();
    const { memory, lines } = engine({ store: storeAt(server.url) });
    const keys = [key('a')];
    await Promise.all([1, 2, 3].map(() => memory.run(limited(10, keys))));
    await server.kill();
    await server.resume();
    const counted = () => countOf(memory, key('a')).catch(() => -1);
    await until(
      () => memory.run(limited(10, keys)),
      (isAllowed) => isAllowed,
    );
    expect(await counted()).toBe(4);
    expect(lines).toContain('info memory restarted');
    expect(lines).not.toContain('error memory lost');
    await redisCommand(server.url, 'FLUSHALL');
    await until(
      () => memory.run(limited(10, keys)),
      (isAllowed) => isAllowed,
    );
    expect(await counted()).toBe(1);
    expect(lines).toContain('error memory lost');
    await memory.close();
  });

  it('applies an exchange as a whole or not at all when the server is killed while it comes in', async () => {
    const server = await started();
    const process = await follower(storeAt(server.url));
    const cells = Array.from({ length: 20 }, (_, index) => `cell ${index}`);
    const random = new Random(caseSeed());
    let acknowledged = 0;
    for (let round = 0; round < 8; round += 1) {
      await reached(() => process.look(...cells));
      const versions = cells.map((cell) => process.of(cell).version);
      // All cells have each step, and nothing acknowledged is missing.
      expect(new Set(versions).size).toBe(1);
      expect(versions[0]).toBeGreaterThanOrEqual(acknowledged);
      acknowledged = versions[0] ?? 0;
      const before = acknowledged;
      const adding = (async () => {
        for (;;) {
          const { applied } = await process.exchange([
            { cells, add: () => cells.map((_, cell) => ({ cell, entry: '1' })) },
          ]);
          if (applied[0] === true) acknowledged += 1;
        }
      })();
      const ended = adding.catch((error: Error) => error.name);
      // At least one step comes in before the server is killed.
      await until(
        () => acknowledged,
        (count) => count > before,
      );
      await pause(random.below(30));
      await server.kill();
      expect(await ended).toBe('MemoryStoreError');
      await server.resume();
    }
    expect(acknowledged).toBeGreaterThan(0);
  });

  it('has no part of an exchange that the server was killed in, wherever its file ends, also after a further start', async () => {
    const server = await started();
    const process = await follower(storeAt(server.url));
    const cells = ['a', 'b', 'c'];
    const step = { cells, add: () => cells.map((_, cell) => ({ cell, entry: '1' })) };
    // The second is that of Redis 6.2.
    const logs = ['appendonlydir/appendonly.aof.1.incr.aof', 'appendonly.aof'].map((name) =>
      path.join(server.folder, name),
    );
    const log = logs.find((each) => existsSync(each)) as string;
    for (let steps = 1; steps <= 12; steps += 1) {
      await process.commit(step);
      const before = statSync(log).size;
      await process.exchange([step]);
      await server.kill();
      const written = statSync(log).size - before;
      // Never all of it, in equal parts.
      truncateSync(log, before + Math.floor((written * steps) / 13));
      await server.resume();
      await reached(() => process.commit(step));
      await server.kill();
      await server.resume();
      await reached(() => process.look(...cells));
      expect(cells.map((cell) => process.of(cell).version)).toEqual(cells.map(() => 2 * steps));
    }
  });

  it('fails at once while the server is away, and goes on when it is back', async () => {
    const server = await started();
    const process = await follower(storeAt(server.url));
    await server.kill();
    expect(await refusal(process.look('a'))).toMatch(/^Redis at 127\.0\.0\.1:\d+: /);
    const before = performance.now();
    for (let index = 0; index < 1_000; index += 1) await refusal(process.look('a'));
    // 1,000 attempts to connect would wait for as many turns of the backoff.
    expect(performance.now() - before).toBeLessThan(LONG_MS);
    await server.resume();
    await reached(() => process.commit(ONE));
  });

  it('leaves a server that hangs, within the time limit, and goes on when it answers again', async () => {
    const server = await started();
    await withGrowingTime(SHORT_MS, async (ms) => {
      const process = await follower(storeAt(server.url, ms));
      server.freeze();
      try {
        const all = await Promise.all([process.look('a'), process.look('b')].map(refusal));
        expect(all).toEqual([
          expect.stringContaining(`did not answer within ${ms} ms`),
          expect.stringMatching(/did not answer within|Disconnects/),
        ]);
        expect(await refusal(process.look('a'))).toMatch(/timeout|did not answer/i);
      } finally {
        server.thaw();
      }
      await reached(() => process.commit(ONE));
    });
  });

  it('notices that the server was emptied, keeps the key of the hashes, and begins an epoch', async () => {
    const { url } = await started();
    const store = storeAt(url);
    const process = await follower(store);
    await process.commit(ONE);
    const { epoch } = process;
    const { hashKey } = await store.open();
    await redisCommand(url, 'FLUSHALL');
    expect(await refusal(process.look('a'))).toMatch(/was emptied/);
    await process.look('a');
    expect(process.of('a').version).toBe(0);
    expect(process.epoch).not.toBe(epoch);
    expect((await store.open()).hashKey).toEqual(hashKey);
    expect((await storeAt(url).open()).hashKey).toEqual(hashKey);
    expect(await process.commit(ONE)).toBeLessThanOrEqual(2);
  });

  it('tells what is wrong when entries of a cell are missing, and changes nothing', async () => {
    const { url } = await started();
    const process = await follower(storeAt(url));
    await process.commit(ONE);
    await redisCommand(url, 'RPOP', '{ces:default}:e:a');
    expect(await refusal(process.look('a'))).toMatch(/DAMAGED the entries of \{ces:default\}:c:a/);
    expect(await refusal(process.exchange([ONE]))).toMatch(/DAMAGED/);
    expect(await process.commit({ ...ONE, cells: ['b'] })).toBeGreaterThan(0);
  });

  it('refuses steps, changes nothing, and sweeps when the memory of the server is full', async () => {
    const { url } = await started();
    const process = await follower(storeAt(url));
    await process.commit(ONE);
    await redisCommand(url, 'CONFIG', 'SET', 'maxmemory', '1');
    expect(await refusal(process.exchange([ONE]))).toMatch(
      /OOM.*raise maxmemory, or lower SERVICE_MEMORY_BYTES/,
    );
    const limits = { ...SWEEP, nowUs: process.nowUs + 3 * 3_600_000_000 };
    expect(await process.store.sweep(limits)).toMatchObject({ expired: 1 });
    await redisCommand(url, 'CONFIG', 'SET', 'maxmemory', '0');
    await process.look('a');
    expect(process.of('a').version).toBe(0);
    expect(await process.commit(ONE)).toBeLessThanOrEqual(2);
  });

  it('leaves nothing for ever when the service is no more, and nothing goes early when the clock is set', async () => {
    const { url } = await started();
    const process = await follower(storeAt(url));
    await process.exchange([], [{ namespace: 'default', rule: 'h1.x' }]);
    await process.commit({ cells: ['a'], add: () => [{ cell: 0, entry: '2', checkpoint: '[]' }] });
    const keys = (await redisCommand(url, 'KEYS', '{ces*')) as string[];
    const rest = await Promise.all(keys.map((key) => redisCommand(url, 'PTTL', key)));
    const kept = keys.filter((_, index) => rest[index] === -1);
    expect(kept.sort()).toEqual(['{ces}:clock', '{ces}:namespaces']);
    for (const ms of rest) if (ms !== -1) expect(ms).toBeGreaterThan((24 * HOUR_US) / 1_000);
  });
});
