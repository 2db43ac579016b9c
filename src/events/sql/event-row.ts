import { hash } from 'node:crypto';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type JsonObject, parseStoredJson, stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { BulkRow } from '../../database/bulk.js';
import { type ControlEvent, ORIGINS, STEP_MEMBERS } from '../store/event.js';
import { facetsOf, readFacets } from '../store/event-facets.js';
import type { EncodedEvent } from '../store/event-store.js';
import type { StoredEvent } from '../store/event-tail.js';

/** Longest control name used as its own key in the rollups, in UTF-16 code units: indexes limit texts. */
const MAX_NAME_KEY_LENGTH = 64;

/** Columns of an event after its position, with the type that an element is cast to. */
const MAIN_COLUMNS = [
  ['control_execution_id', 'TEXT'],
  ['time_us', 'BIGINT'],
  ['time_text', 'TEXT'],
  ['trace_key', 'BIGINT'],
  ['trace_id', 'TEXT'],
  ['span_key', 'BIGINT'],
  ['span_id', 'TEXT'],
  ['agent_name', 'TEXT'],
  ['control_id', 'INTEGER'],
  ['control_name', 'TEXT'],
  ['name_key', 'TEXT'],
  ['facets', 'INTEGER'],
  ['origin', 'INTEGER'],
  ['confidence', 'DOUBLE PRECISION'],
  ['duration_ms', 'DOUBLE PRECISION'],
  ['evaluator_name', 'TEXT'],
  ['selector_path', 'TEXT'],
  ['error_message', 'TEXT'],
  ['metadata', 'TEXT'],
] as const;
/** In the order of `STEP_MEMBERS`. */
const STEP_COLUMNS = [
  ['step_type', 'TEXT'],
  ['step_name', 'TEXT'],
  ['session_id', 'TEXT'],
  ['step_id', 'TEXT'],
  ['revision', 'BIGINT'],
  ['decision_id', 'TEXT'],
] as const;
const COLUMNS = [...MAIN_COLUMNS, ...STEP_COLUMNS];
type Column = (typeof COLUMNS)[number][0];

const NULLABLE: ReadonlySet<string> = new Set([
  'span_key',
  'name_key',
  'duration_ms',
  'evaluator_name',
  'selector_path',
  'error_message',
  ...STEP_COLUMNS.map(([name]) => name),
]);

/** Columns of an event after its position, with their declarations on SQLite. */
export const EVENT_COLUMNS = COLUMNS.map(([name, type]) => ({
  name,
  sqlite: `${type === 'DOUBLE PRECISION' ? 'REAL' : type}${NULLABLE.has(name) ? '' : ' NOT NULL'}`,
}));

/** Whether a column of the step has a value. Few events of clients have one. */
export function hasStep(event: ControlEvent): boolean {
  return STEP_MEMBERS.some((member) => event[member] !== null);
}

/** Bits of `EncodedEvent.traits`: a column of the step has a value; the control name is too long for a key. */
export const HAS_STEP = 1;
export const HAS_LONG_NAME = 2;

export function encodeEvent(event: ControlEvent): EncodedEvent {
  const step = hasStep(event) ? HAS_STEP : 0;
  const name = event.control_name.length > MAX_NAME_KEY_LENGTH ? HAS_LONG_NAME : 0;
  return { id: event.control_execution_id, row: eventRow(event), traits: step | name, event };
}

/**
 * An event as the JSON text of a list, which both databases parse fast: its main columns, the halvings of its numbers, and
 * the columns of its step if there is a value.
 */
export function eventRow(event: ControlEvent): string {
  const { confidence: exact, execution_duration_ms: exactMs } = event;
  const [confidence, confidenceHalvings] = halved(exact);
  const [duration, durationHalvings] = exactMs === null ? [null, 0] : halved(exactMs);
  return JSON.stringify([
    event.control_execution_id,
    // As text: it can exceed 2^53.
    String(event.timestamp.us),
    event.timestamp.text,
    idKey(event.trace_id),
    event.trace_id,
    idKey(event.span_id),
    event.span_id,
    event.agent_name,
    event.control_id,
    event.control_name,
    nameKey(event.control_name),
    facetsOf(event),
    ORIGINS.indexOf(event.origin),
    confidence,
    duration,
    event.evaluator_name,
    event.selector_path,
    event.error_message,
    metadataText(event.metadata),
    confidenceHalvings,
    durationHalvings,
    ...(hasStep(event) ? STEP_MEMBERS.map((member) => event[member]) : []),
  ]);
}

/**
 * Halvings that two shifts of 64-bit integers can express. Only numbers below 1e-21 need more; their last bit
 * depends on how the database parses decimals.
 */
const MAX_HALVINGS = 124;

/**
 * A non-negative number as an integer and its number of halvings. SQLite parses one decimal number in ten
 * thousand with a wrong last bit; this is exact in both databases.
 */
function halved(value: number): [integer: number, halvings: number] {
  let integer = value;
  for (let halvings = 0; halvings <= MAX_HALVINGS; halvings += 1) {
    if (Number.isInteger(integer)) return [integer, halvings];
    integer *= 2;
  }
  return [value, 0];
}

/** Most events have none. */
function metadataText(metadata: JsonObject): string {
  for (const _ in metadata) return stringifyJson(metadata);
  return '{}';
}

/** 48 bits of a hash of the id of a trace or a span, which may have any length. */
export function idKey(id: string): number {
  return Number.parseInt(hash('sha256', id).slice(0, 12), 16);
}

/** Key of a control name in the rollups; null when it is the name itself. */
export function nameKey(name: string): string | null {
  return name.length <= MAX_NAME_KEY_LENGTH ? null : `sha256:${hash('sha256', name)}`;
}

/** Index of a number's halvings in the list of `eventRow`. */
const HALVINGS: Partial<Record<Column, number>> = {
  confidence: MAIN_COLUMNS.length,
  duration_ms: MAIN_COLUMNS.length + 1,
};
/** Index of the first column of the step. */
const FIRST_STEP = MAIN_COLUMNS.length + 2;

function elementOf([name, type]: readonly [Column, string], index: number): string {
  const at = index < MAIN_COLUMNS.length ? index : index - MAIN_COLUMNS.length + FIRST_STEP;
  const element = `CAST("j"."item" ->> ${at} AS ${type})`;
  const halvings = HALVINGS[name];
  if (halvings === undefined) return element;
  const count = `CAST("j"."item" ->> ${halvings} AS INTEGER)`;
  const half = (exponent: string) => `(CAST(1 AS BIGINT) << (${exponent}))`;
  return `${element} / ${half(`${count} / 2`)} / ${half(`${count} - ${count} / 2`)}`;
}

const ELEMENTS = COLUMNS.map(elementOf);
const namesOf = (columns: readonly (readonly [Column, string])[]) =>
  Prisma.raw(columns.map(([name]) => `"${name}"`).join(', '));

/** Names of columns, and their values read from lists of `eventRow` as a table `"j"` with the column `"item"`. */
export interface InsertedColumns {
  readonly names: Prisma.Sql;
  readonly values: Prisma.Sql;
}

export const EVERY_COLUMN: InsertedColumns = {
  names: namesOf(COLUMNS),
  values: Prisma.raw(ELEMENTS.join(', ')),
};
/** For events without a step: each column read costs time. */
export const COLUMNS_WITHOUT_STEP: InsertedColumns = {
  names: namesOf(MAIN_COLUMNS),
  values: Prisma.raw(ELEMENTS.slice(0, MAIN_COLUMNS.length).join(', ')),
};
/** `"column" = …` for every column, read from the same. */
export const SET_FROM_ELEMENT = Prisma.raw(
  COLUMNS.map(([name], index) => `"${name}" = ${ELEMENTS[index]}`).join(', '),
);

/** The columns read by `readEvent`, in its order. */
export const READ_COLUMNS = Prisma.sql`"position", ${EVERY_COLUMN.names}`;

const INDEX = Object.fromEntries(COLUMNS.map(([name], index) => [name, index + 1])) as Record<Column, number>;

/** Reads a row of `READ_COLUMNS`. */
export function readEvent(row: BulkRow): StoredEvent {
  const text = (column: Column) => String(row[INDEX[column]]);
  const orNull = (column: Column) => (row[INDEX[column]] === null ? null : text(column));
  const number = (column: Column) => Number(row[INDEX[column]]);
  const numberOrNull = (column: Column) => (row[INDEX[column]] === null ? null : number(column));
  const event: ControlEvent = {
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
  };
  return { position: BigInt(String(row[0])), event };
}

/** The event of a row that `encodeEvent` made. */
export function decodeRow(row: string): ControlEvent {
  const values = JSON.parse(row) as (string | number | null)[];
  const columns = values.slice(0, MAIN_COLUMNS.length);
  for (const [name, halvings] of Object.entries(HALVINGS) as [Column, number][]) {
    const at = INDEX[name] - 1;
    const integer = columns[at];
    if (typeof integer === 'number') columns[at] = integer / 2 ** Number(values[halvings]);
  }
  const step = STEP_COLUMNS.map((_, index) => values[FIRST_STEP + index] ?? null);
  return readEvent([0, ...columns, ...step]).event;
}
