import { hash } from 'node:crypto';
import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import { DEFAULT_NAMESPACE } from '../../../contract/call/namespace.js';
import type { BulkRow } from '../../../storage/database/bulk.js';
import { bigintOf } from '../store/count.js';
import { type ControlEvent, STEP_MEMBERS } from '../store/event.js';
import {
  type ColumnType,
  EVENT_COLUMNS,
  type EventColumn,
  eventOf,
  FIRST_STEP_COLUMN,
  valuesOf,
} from '../store/event-columns.js';
import type { EncodedEvent } from '../store/event-store.js';
import type { StoredEvent } from '../store/event-tail.js';

/** Longest control name used as its own key in the rollups, in UTF-16 code units: indexes limit texts. */
const MAX_NAME_KEY_LENGTH = 64;

const TYPES: Record<ColumnType, string> = {
  text: 'TEXT',
  name: 'TEXT',
  json: 'TEXT',
  byte: 'INTEGER',
  integer: 'INTEGER',
  long: 'BIGINT',
  double: 'DOUBLE PRECISION',
};

/** Columns besides those of every store, in the order of `eventRow`: what stands for texts in indexes and rollups. */
const KEYS: readonly EventColumn[] = [
  { name: 'trace_key', type: 'long', isNullable: false },
  { name: 'span_key', type: 'long', isNullable: true },
  { name: 'name_key', type: 'name', isNullable: true },
];

/** Columns of an event after its position. */
const COLUMNS = [...KEYS, ...EVENT_COLUMNS];

/** The same with their declarations on SQLite. */
export const DECLARATIONS = COLUMNS.map(({ name, type, isNullable }) => {
  const declared = type === 'double' ? 'REAL' : TYPES[type];
  return `"${name}" ${declared}${isNullable ? '' : ' NOT NULL'}`;
}).join(', ');

/** Whether a column of the step has a value. Few events of clients have one. */
export function hasStep(event: ControlEvent): boolean {
  return STEP_MEMBERS.some((member) => event[member] !== null);
}

/**
 * Bits of `EncodedEvent.traits`: a column of the step has a value; the control name is too long for a key; the namespace
 * is another one than `default`.
 */
export const HAS_STEP = 1;
export const HAS_LONG_NAME = 2;
export const IS_OF_OTHERS = 4;

export function encodeEvent(event: ControlEvent): EncodedEvent {
  const step = hasStep(event) ? HAS_STEP : 0;
  const name = event.control_name.length > MAX_NAME_KEY_LENGTH ? HAS_LONG_NAME : 0;
  const others = DEFAULT_NAMESPACE.contains(event.agent_name) ? 0 : IS_OF_OTHERS;
  return { id: event.control_execution_id, row: eventRow(event), traits: step | name | others, event };
}

/**
 * An event as the JSON text of a list, which both databases parse fast: its keys, the halvings of its numbers, and its
 * values, without those of its step if there are none.
 */
export function eventRow(event: ControlEvent): string {
  const { execution_duration_ms: exactMs } = event;
  const [confidence, confidenceHalvings] = halved(event.confidence);
  const [duration, durationHalvings] = exactMs === null ? [null, 0] : halved(exactMs);
  const values = valuesOf(event, confidence, duration);
  if (!hasStep(event)) values.length = FIRST_STEP_COLUMN;
  const keys = [idKey(event.trace_id), idKey(event.span_id), JSON.stringify(nameKey(event.control_name))];
  // Without a copy of the values.
  return `[${keys.join()},${confidenceHalvings},${durationHalvings},${JSON.stringify(values).slice(1)}`;
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

/** 48 bits of a hash of the id of a trace or a span, which may have any length. */
export function idKey(id: string): number {
  return Number.parseInt(hash('sha256', id).slice(0, 12), 16);
}

/** Key of a control name in the rollups; null when it is the name itself. */
export function nameKey(name: string): string | null {
  return name.length <= MAX_NAME_KEY_LENGTH ? null : `sha256:${hash('sha256', name)}`;
}

const indexOf = (name: string) => EVENT_COLUMNS.findIndex((column) => column.name === name);
/** Indexes in `EVENT_COLUMNS` of the numbers that are halved. In a row, their halvings follow the keys. */
const HALVED = [indexOf('confidence'), indexOf('duration_ms')];
/** Index of the first value of `EVENT_COLUMNS` in a row. */
const FIRST_VALUE = KEYS.length + HALVED.length;

function elementOf({ type }: EventColumn, index: number): string {
  const at = index < KEYS.length ? index : index + HALVED.length;
  const element = `CAST("j"."item" ->> ${at} AS ${TYPES[type]})`;
  const halved = HALVED.indexOf(index - KEYS.length);
  if (halved === -1) return element;
  const count = `CAST("j"."item" ->> ${KEYS.length + halved} AS INTEGER)`;
  const half = (exponent: string) => `(CAST(1 AS BIGINT) << (${exponent}))`;
  return `${element} / ${half(`${count} / 2`)} / ${half(`${count} - ${count} / 2`)}`;
}

const ELEMENTS = COLUMNS.map(elementOf);
const namesOf = (columns: readonly EventColumn[]) =>
  Prisma.raw(columns.map(({ name }) => `"${name}"`).join(', '));

/** Names of columns, and their values read from lists of `eventRow` as a table `"j"` with the column `"item"`. */
function insertedColumns(count: number) {
  return {
    names: namesOf(COLUMNS.slice(0, count)),
    values: Prisma.raw(ELEMENTS.slice(0, count).join(', ')),
  };
}

export const EVERY_COLUMN = insertedColumns(COLUMNS.length);
/** For events without a step: each column read costs time. */
export const COLUMNS_WITHOUT_STEP = insertedColumns(KEYS.length + FIRST_STEP_COLUMN);
/** `"column" = …` for every column, read from the same. */
export const SET_FROM_ELEMENT = Prisma.raw(
  COLUMNS.map(({ name }, index) => `"${name}" = ${ELEMENTS[index]}`).join(', '),
);
/** The id of an event, read from the same. */
export const ID_FROM_ELEMENT = Prisma.raw(`"j"."item" ->> ${FIRST_VALUE + indexOf('control_execution_id')}`);

/** All columns, for copies. */
export const ALL_COLUMNS = Prisma.sql`"position", ${EVERY_COLUMN.names}`;
/** The columns read by `readEvent`. */
export const READ_COLUMNS = Prisma.sql`"position", ${namesOf(EVENT_COLUMNS)}`;

/** Reads a row of `READ_COLUMNS`. */
export function readEvent(row: BulkRow): StoredEvent {
  return { position: bigintOf(row[0]), event: eventOf(row, 1) };
}

/** The event of a row that `encodeEvent` made. */
export function decodeRow(row: string): ControlEvent {
  const values = JSON.parse(row) as (string | number | null)[];
  for (const [index, halved] of HALVED.entries()) {
    const integer = values[FIRST_VALUE + halved];
    if (typeof integer === 'number')
      values[FIRST_VALUE + halved] = integer / 2 ** Number(values[KEYS.length + index]);
  }
  return eventOf(values, FIRST_VALUE);
}
