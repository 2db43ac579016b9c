export {
  type ClickHouseTables,
  type ClickHouseTablesOptions,
  createClickHouseTables,
} from './clickhouse-tables.js';
export { monthOf, partitionOf } from './month-partitions.js';
export type { TableEngines, TablesSchema } from './prepare-tables.js';
export type {
  ClickHouseLocation,
  ClickHouseQuery,
  ClickHouseRow,
  ClickHouseValue,
  Insertion,
} from './server-calls.js';
export { TablesError } from './tables-error.js';
