import { bigintOf } from '../../../src/observe/events/store/count.js';
import type { ControlEvent } from '../../../src/observe/events/store/event.js';
import {
  type ColumnType,
  EVENT_COLUMNS,
  type EventColumn,
  eventOf,
  octetsOf,
  valuesOf,
} from '../../../src/observe/events/store/event-columns.js';
import type { EncodedEvent } from '../../../src/observe/events/store/event-store.js';
import type { ClickHouseRow } from '../../clickhouse-tables/src/index.js';

const TYPES: Record<ColumnType, string> = {
  text: 'String',
  name: 'String',
  json: 'String',
  byte: 'UInt8',
  integer: 'Int32',
  long: 'Int64',
  double: 'Float64',
};

function typeOf({ name, type, isNullable }: EventColumn): string {
  if (name === 'time_us') return `${TYPES[type]} CODEC(Delta, LZ4)`;
  return isNullable ? `Nullable(${TYPES[type]})` : TYPES[type];
}

/** Columns that the writer adds: see `docs/clickhouse.md`. */
const WRITTEN = [
  ['sign', 'Int8'],
  ['version', 'UInt8'],
  ['position', 'UInt64 CODEC(Delta, LZ4)'],
  ['batch', 'UInt64 CODEC(Delta, LZ4)'],
  ['partition', 'UInt32'],
] as const;

const ALL = [...WRITTEN, ...EVENT_COLUMNS.map((column) => [column.name, typeOf(column)] as const)];

/** Names and types of all columns, for CREATE TABLE. */
export const COLUMN_DEFINITIONS = ALL.map(([name, type]) => `${name} ${type}`).join(', ');
/** Names of all columns, in the order of `rowLine` and `readRow`. */
export const COLUMN_NAMES = ALL.map(([name]) => name).join(', ');
/** Approximate size of an event in bytes. */
export const OCTETS = octetsOf((column) => `length(${column})`);

/** An event as a JSON list, which the server reads after the columns of the writer are put in front. */
export function encodeEvent(event: ControlEvent): EncodedEvent {
  return { id: event.control_execution_id, row: JSON.stringify(valuesOf(event)), traits: 0, event };
}

/** The event of a row that `encodeEvent` made. */
export function decodeRow(row: string): ControlEvent {
  return eventOf(JSON.parse(row) as ClickHouseRow, 0);
}

/** The time of a row that `encodeEvent` made, in microseconds since 1970: its first column, as text. */
export function timeOfRow(row: string): bigint {
  const from = row.indexOf('"') + 1;
  return BigInt(row.slice(from, row.indexOf('"', from)));
}

/** What the writer adds to an event. */
export interface RowKeys {
  /** 1 for a row that counts, -1 for one that cancels an earlier row. */
  readonly sign: 1 | -1;
  readonly version: number;
  readonly position: bigint;
  readonly batch: bigint;
  readonly partition: number;
}

/** One line of an insert, in the format JSONCompactEachRow. */
export function rowLine({ sign, version, position, batch, partition }: RowKeys, row: string): string {
  return `[${sign},${version},${position},${batch},${partition},${row.slice(1)}`;
}

/** A row as stored. */
export interface ClickHouseEvent extends RowKeys {
  readonly event: ControlEvent;
}

/** Reads a row of `COLUMN_NAMES`. */
export function readRow(row: ClickHouseRow): ClickHouseEvent {
  const [sign, version, position, batch, partition] = row;
  return {
    sign: Number(sign) === 1 ? 1 : -1,
    version: Number(version),
    position: bigintOf(position),
    batch: bigintOf(batch),
    partition: Number(partition),
    event: eventOf(row, WRITTEN.length),
  };
}
