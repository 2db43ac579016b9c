import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createRedisMemoryStore } from '../../../packages/memory-redis/src/index.js';
import type { RedisServer } from '../../../scripts/redis-server.mjs';
import type { EntryAddition, MemoryStore } from '../../../src/decide/memory/store/memory-store.js';
import { redisCommand, startRedisCluster } from '../../support/redis-cluster.js';
import { until } from '../../support/until.js';
import { HOUR_US } from './follower.js';
import { describeMemoryStore } from './store-contract.cases.js';

const NAMESPACES = Array.from({ length: 12 }, (_, index) => `namespace-${index}`);

let nodes: RedisServer[] = [];
beforeAll(async () => {
  nodes = await startRedisCluster(3);
});
afterAll(async () => {
  for (const node of nodes) await node.stop();
});
const connect = (node = 0): MemoryStore =>
  createRedisMemoryStore({
    url: `${nodes[node]?.url}?cluster=true`,
    volatile: 'refuse',
    timeoutMs: 300_000,
    onVolatile: () => {},
  });

describeMemoryStore('a cluster of Redis', async () => {
  for (const { url } of nodes) await redisCommand(url, 'FLUSHALL');
  let next = 0;
  return {
    connect() {
      next += 1;
      return connect(next % nodes.length);
    },
    drop: async () => {},
  };
});

describe('an exchange with a cluster of Redis', () => {
  const stores: MemoryStore[] = [];
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });

  async function opened(node: number): Promise<{ store: MemoryStore; epoch: string; nowUs: number }> {
    const store = connect(node);
    stores.push(store);
    await store.open();
    const { clock } = await store.exchange({ epoch: null, cells: [], groups: [], rules: [] });
    return { store, epoch: clock.epoch, nowUs: clock.storeUs + clock.offsetUs };
  }
  const adding = (cell: number, atUs: number): EntryAddition => ({
    cell,
    entry: String(cell),
    atUs,
    expiresAtUs: atUs + HOUR_US,
    used: 0,
    checkpoint: null,
  });
  const cellsOf = (id: string, known: number) =>
    NAMESPACES.map((namespace) => ({ id, namespace, label: id, agent: 'agent', known, generation: 0 }));

  it('takes the steps of namespaces on all nodes, each as a whole, and tells them to other processes', async () => {
    const { store, epoch, nowUs } = await opened(0);
    const rules = NAMESPACES.map((namespace) => ({ namespace, rule: 'r.x' }));
    const groups = NAMESPACES.map((_, cell) => ({ cells: [cell], additions: [adding(cell, nowUs)] }));
    const reply = await store.exchange({ epoch, cells: cellsOf('a', 0), groups, rules });
    expect(reply.applied).toEqual(NAMESPACES.map(() => true));
    expect(reply.sinceUs.every((us) => us >= nowUs)).toBe(true);
    const sizes = await Promise.all(nodes.map(({ url }) => redisCommand(url, 'DBSIZE')));
    for (const size of sizes) expect(size).toBeGreaterThan(0);
    const other = await opened(1);
    expect(other.epoch).toBe(epoch);
    const { news } = await other.store.exchange({ epoch, cells: cellsOf('a', -1), groups: [], rules: [] });
    expect(news.map(({ cell, version, entries }) => [cell, version, entries])).toEqual(
      NAMESPACES.map((_, cell) => [cell, 1, [String(cell)]]),
    );
  });

  it('keeps what was acknowledged when a node is killed, and begins an epoch', async () => {
    const { store, epoch, nowUs } = await opened(0);
    const groups = NAMESPACES.map((_, cell) => ({ cells: [cell], additions: [adding(cell, nowUs)] }));
    expect((await store.exchange({ epoch, cells: cellsOf('b', 0), groups, rules: [] })).applied).toEqual(
      NAMESPACES.map(() => true),
    );
    const questions = { epoch, cells: cellsOf('b', -1), groups: [], rules: [] };
    await nodes[2]?.kill();
    await expect(store.exchange(questions)).rejects.toMatchObject({ name: 'MemoryStoreError' });
    await nodes[2]?.resume();
    const reply = await until(
      () => store.exchange(questions).catch(() => null),
      (found) => found !== null,
    );
    expect(reply?.clock.epoch).not.toBe(epoch);
    expect(reply?.news.map(({ version }) => version)).toEqual(NAMESPACES.map(() => 1));
  });
});
