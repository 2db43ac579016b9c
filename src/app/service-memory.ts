import { RULE_REDUCERS } from '../evaluators/memory/reducers.js';
import { createMemory, type WatchedMemory } from '../memory/memory.js';
import { createRedisMemoryStore } from '../memory/redis/redis-memory-store.js';
import { createSqlMemoryStore } from '../memory/sql/sql-memory-store.js';
import type { MemoryStore } from '../memory/store/memory-store.js';
import type { Foundations } from './foundations.js';

/** The memory of the service, and which store it has. Nothing is opened before a control needs it. */
export interface ServiceMemory {
  readonly memory: WatchedMemory;
  readonly storeKind: MemoryStore['kind'];
}

export function createServiceMemory({ config, database, failures, metrics }: Foundations): ServiceMemory {
  const { store: url, volatile, timeoutMs, maxWindowMs, maxKeys, maxBytes } = config.memory;
  let isVolatile = false;
  const openStore = async (): Promise<MemoryStore> => {
    if (url === null) return createSqlMemoryStore({ database });
    const warn = (message: string) => {
      isVolatile = true;
      failures.told('warn', 'memory volatile', message, {});
    };
    return createRedisMemoryStore({ url, volatile, timeoutMs, warn });
  };
  return {
    memory: createMemory({
      openStore,
      reducers: RULE_REDUCERS,
      timeoutMs,
      maxWindowMs,
      maxKeys,
      maxBytes,
      log: failures,
      meter: metrics.memory,
      isVolatile: () => isVolatile,
    }),
    storeKind: url === null ? database.kind : 'redis',
  };
}
