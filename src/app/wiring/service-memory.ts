import { getHeapStatistics } from 'node:v8';
import { demandPackage } from '../../contract/config/demanded-package.js';
import { createMemory, type WatchedMemory } from '../../decide/memory/memory.js';
import { createSqlMemoryStore } from '../../decide/memory/sql/sql-memory-store.js';
import type { MemoryStore } from '../../decide/memory/store/memory-store.js';
import { RULE_REDUCERS } from '../../kernel/evaluators/memory/memory-evaluators.js';
import type { Foundations } from './foundations.js';

/**
 * Share of the heap that keys take which were read last: one of a hundred controls takes some 40 kB, and one that is not there is
 * read again.
 */
const CACHE_SHARE = 1 / 8;

/** The memory of the service, and which store it has. */
export interface ServiceMemory {
  readonly memory: WatchedMemory;
  readonly storeKind: MemoryStore['kind'];
}

/** Opens nothing before a control needs it. Rejects when the package of the store is not installed. */
export async function createServiceMemory(foundations: Foundations): Promise<ServiceMemory> {
  const { config, database, failures, metrics, packages } = foundations;
  const { store: url, volatile, timeoutMs, maxWindowMs, maxKeys, maxBytes } = config.memory;
  let volatility: string | null = null;
  const onVolatile = (reason: string | null) => {
    // Once, not with each connection.
    if (reason !== null && reason !== volatility) failures.told('warn', 'memory volatile', reason, {});
    volatility = reason;
  };
  let openStore = async (): Promise<MemoryStore> => createSqlMemoryStore({ database });
  if (url !== null) {
    const { createRedisMemoryStore } = await demandPackage('SERVICE_MEMORY_STORE', {
      name: 'memory-redis',
      load: packages['memory-redis'],
    });
    openStore = async () => createRedisMemoryStore({ url, volatile, timeoutMs, onVolatile });
  }
  return {
    memory: createMemory({
      openStore,
      reducers: RULE_REDUCERS,
      timeoutMs,
      maxWindowMs,
      maxKeys,
      maxBytes,
      cacheBytes: getHeapStatistics().heap_size_limit * CACHE_SHARE,
      log: failures,
      meter: metrics.memory,
      volatility: () => volatility,
    }),
    storeKind: url === null ? database.kind : 'redis',
  };
}
