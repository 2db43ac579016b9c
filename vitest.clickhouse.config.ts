import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.js';

/** Tests with events on ClickHouse: `npm run test:clickhouse`. */
export default mergeConfig(
  base,
  defineConfig({ test: { include: ['test/events/clickhouse/*.clickhouse.ts'] } }),
);
