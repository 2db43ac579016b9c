export type { ParquetColumn, ParquetType, ParquetValue } from './columns.js';
export { openParquetLog } from './open-parquet-log.js';
export type { FileLimits, LogSource, ParquetLog, ParquetLogOptions, RowKind } from './parquet-log.js';
