export { createRedisMemoryStore } from './redis-memory-store.js';
