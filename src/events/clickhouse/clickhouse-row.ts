import { type JsonObject, parseStoredJson, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { type ControlEvent, ORIGINS, STEP_MEMBERS } from '../store/event.js';
import { facetsOf, readFacets } from '../store/event-facets.js';
import type { EncodedEvent } from '../store/event-store.js';

/** A value as the server prints it: integers of 64 bits as text. */
export type ClickHouseValue = null | string | number | boolean;
export type ClickHouseRow = readonly ClickHouseValue[];

/** Columns of an event with their types, in the order of `encodeEvent`. */
const COLUMNS = [
  ['time_us', 'Int64 CODEC(Delta, LZ4)'],
  ['time_text', 'String'],
  ['control_execution_id', 'String'],
  ['trace_id', 'String'],
  ['span_id', 'String'],
  ['agent_name', 'String'],
  ['control_id', 'Int32'],
  ['control_name', 'String'],
  ['facets', 'UInt8'],
  ['origin', 'UInt8'],
  ['confidence', 'Float64'],
  ['duration_ms', 'Nullable(Float64)'],
  ['evaluator_name', 'Nullable(String)'],
  ['selector_path', 'Nullable(String)'],
  ['error_message', 'Nullable(String)'],
  ['metadata', 'String'],
  // In the order of `STEP_MEMBERS`.
  ['step_type', 'Nullable(String)'],
  ['step_name', 'Nullable(String)'],
  ['session_id', 'Nullable(String)'],
  ['step_id', 'Nullable(String)'],
  ['revision', 'Nullable(Int64)'],
  ['decision_id', 'Nullable(String)'],
] as const;
type Column = (typeof COLUMNS)[number][0];

/** Columns that the writer adds: see `docs/clickhouse.md`. */
const WRITTEN = [
  ['sign', 'Int8'],
  ['version', 'UInt8'],
  ['position', 'UInt64 CODEC(Delta, LZ4)'],
  ['batch', 'UInt64 CODEC(Delta, LZ4)'],
  ['partition', 'UInt32'],
] as const;

const ALL = [...WRITTEN, ...COLUMNS];

/** Names and types of all columns, for CREATE TABLE. */
export const COLUMN_DEFINITIONS = ALL.map(([name, type]) => `${name} ${type}`).join(', ');
/** Names of all columns, in the order of `rowLine` and `readRow`. */
export const COLUMN_NAMES = ALL.map(([name]) => name).join(', ');

const INDEX = Object.fromEntries(ALL.map(([name], index) => [name, index])) as Record<
  Column | (typeof WRITTEN)[number][0],
  number
>;

/** An event as a JSON list, which the server reads after the columns of the writer are put in front. */
export function encodeEvent(event: ControlEvent): EncodedEvent {
  const row = JSON.stringify([
    // As text: it can exceed 2^53.
    String(event.timestamp.us),
    event.timestamp.text,
    event.control_execution_id,
    event.trace_id,
    event.span_id,
    event.agent_name,
    event.control_id,
    event.control_name,
    facetsOf(event),
    ORIGINS.indexOf(event.origin),
    event.confidence,
    event.execution_duration_ms,
    event.evaluator_name,
    event.selector_path,
    event.error_message,
    metadataText(event.metadata),
    ...STEP_MEMBERS.map((member) => event[member]),
  ]);
  return { id: event.control_execution_id, row, traits: 0, event };
}

/** The event of a row that `encodeEvent` made. */
export function decodeRow(row: string): ControlEvent {
  const values = JSON.parse(row) as ClickHouseRow;
  return readRow([...WRITTEN.map(() => 0), ...values]).event;
}

/** The time of a row that `encodeEvent` made, in microseconds since 1970: its first column, as text. */
export function timeOfRow(row: string): bigint {
  const from = row.indexOf('"') + 1;
  return BigInt(row.slice(from, row.indexOf('"', from)));
}

/** Most events have none. */
function metadataText(metadata: JsonObject): string {
  for (const _ in metadata) return stringifyJson(metadata);
  return '{}';
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
  const text = (column: keyof typeof INDEX) => String(row[INDEX[column]]);
  const orNull = (column: Column) => (row[INDEX[column]] === null ? null : text(column));
  const number = (column: keyof typeof INDEX) => Number(row[INDEX[column]]);
  const numberOrNull = (column: Column) => (row[INDEX[column]] === null ? null : number(column));
  return {
    sign: number('sign') === 1 ? 1 : -1,
    version: number('version'),
    position: BigInt(text('position')),
    batch: BigInt(text('batch')),
    partition: number('partition'),
    event: {
      origin: ORIGINS[number('origin')] ?? 'merged',
      control_execution_id: text('control_execution_id'),
      trace_id: text('trace_id'),
      span_id: text('span_id'),
      agent_name: text('agent_name'),
      control_id: number('control_id'),
      control_name: text('control_name'),
      ...readFacets(number('facets')),
      confidence: number('confidence'),
      timestamp: { us: BigInt(text('time_us')), text: text('time_text') },
      execution_duration_ms: numberOrNull('duration_ms'),
      evaluator_name: orNull('evaluator_name'),
      selector_path: orNull('selector_path'),
      error_message: orNull('error_message'),
      metadata: parseStoredJson(text('metadata')) as JsonObject,
      step_type: orNull('step_type'),
      step_name: orNull('step_name'),
      session_id: orNull('session_id'),
      step_id: orNull('step_id'),
      revision: numberOrNull('revision'),
      decision_id: orNull('decision_id'),
    },
  };
}

/** Memory of an event besides its unlimited texts: keys, numbers and texts with a limit. */
const FIXED_OCTETS = 400;
const LONG_TEXTS: readonly Column[] = ['trace_id', 'span_id', 'control_name', 'metadata'];
const LONG_OPTIONAL_TEXTS: readonly Column[] = [
  'evaluator_name',
  'selector_path',
  'error_message',
  'step_type',
  'step_name',
  'session_id',
  'step_id',
  'decision_id',
];
/** Approximate size of an event in bytes. */
export const OCTETS = [
  FIXED_OCTETS,
  ...LONG_TEXTS.map((name) => `length(${name})`),
  ...LONG_OPTIONAL_TEXTS.map((name) => `ifNull(length(${name}), 0)`),
].join(' + ');
