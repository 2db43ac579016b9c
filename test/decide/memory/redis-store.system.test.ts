import { afterAll } from 'vitest';
import { createRedisMemoryStore } from '../../../packages/memory-redis/src/index.js';
import { type RedisServer, startRedisServer } from '../../../scripts/redis-server.mjs';
import { describeMemoryStore } from './store-contract.cases.js';

let server: RedisServer | undefined;
let database = 0;
afterAll(() => server?.stop());

describeMemoryStore('Redis', async () => {
  server ??= await startRedisServer({ flags: ['--databases', '1000'] });
  database += 1;
  const url = `${server.url}/${database}`;
  return {
    connect: () =>
      createRedisMemoryStore({ url, volatile: 'refuse', timeoutMs: 300_000, onVolatile: () => {} }),
    drop: async () => {},
  };
});
