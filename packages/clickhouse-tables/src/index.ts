export {
  type ClickHouseTables,
  type ClickHouseTablesOptions,
  createClickHouseTables,
} from './clickhouse-tables.js';
export { monthOf, partitionOf } from './month-partitions.js';
export type { TableEngines, TablesSchema } from './prepare-tables.js';
export {
  type ClickHouseLocation,
  type ClickHouseQuery,
  type ClickHouseRow,
  type ClickHouseValue,
  type Insertion,
  TablesError,
} from './server-calls.js';
