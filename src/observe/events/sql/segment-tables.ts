import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { DatabaseLocation } from '../../../storage/database/database-url.js';
import { bigint, columns, flag, from, number, type ReadRow } from '../../../storage/database/rows.js';
import { ALL_COLUMNS, DECLARATIONS } from './event-row.js';

type Kind = DatabaseLocation['kind'];

export const SEGMENT = columns({
  number,
  /** Positions, inclusive. Not all of them need exist. */
  first: from(Prisma.sql`"first_position"`, bigint),
  last: from(Prisma.sql`"last_position"`, bigint),
  /** A table from before there were segments. Its rows are moved into segments, and then it is dropped. */
  isOld: flag,
  /** Whether the filter of its ids is stored. */
  hasFilter: from(Prisma.sql`CASE WHEN "filter" IS NULL THEN 0 ELSE 1 END`, flag),
});

/** A closed part of the events: a table with the events of some consecutive positions. */
export type Segment = ReadRow<typeof SEGMENT>;

/** Table of the latest events, the only one that events are added to. */
export const OPEN_TABLE = Prisma.raw('"events"');
/** View of all events, open and closed. */
export const ALL_EVENTS = Prisma.raw('"all_events"');
/** On PostgreSQL: the partitioned table of all segments. */
const ARCHIVE = '"event_archive"';

/** Matched by the condition of the index of denials; both planners compare the text. */
export const IS_DENIAL = Prisma.raw('"facets" & 25 = 1');

export function tableName(number: number): string {
  return `"events_${number}"`;
}

export function tableOf({ number }: Pick<Segment, 'number'>): Prisma.Sql {
  return Prisma.raw(tableName(number));
}

/**
 * Indexes of each table. Only those over ids are filled in random order; they are small enough to stay in memory, because
 * the table is closed before they grow. The facets are there so that counting reads the index alone; the conditions, so
 * that an event without the value costs nothing.
 */
const INDEXES: readonly (readonly [name: string, columns: string, condition?: string])[] = [
  ['time', '"time_us", "position", "facets"'],
  ['agent', '"agent_name", "time_us", "position", "facets"'],
  ['control', '"control_id", "time_us", "position", "facets"'],
  ['trace', '"trace_key"'],
  ['span', '"span_key"'],
  ['session', '"session_id", "time_us", "position"', '"session_id" IS NOT NULL'],
  ['step', '"step_id"', '"step_id" IS NOT NULL'],
  ['decision', '"decision_id"', '"decision_id" IS NOT NULL'],
  ['denial', '"time_us", "position", "facets"', IS_DENIAL.sql],
  ['error', '"time_us", "position"', '"error_message" IS NOT NULL'],
];

/** Statements that create an empty table of events. `unique` makes the names of its indexes unique. */
export function createTable(kind: Kind, table: string, unique: number): Prisma.Sql[] {
  const create =
    kind === 'sqlite'
      ? `CREATE TABLE ${table} ("position" INTEGER PRIMARY KEY, ${DECLARATIONS})`
      : // The same columns, in the same order: it becomes a partition.
        `CREATE TABLE ${table} (LIKE ${ARCHIVE}, CONSTRAINT "events_${unique}_position" PRIMARY KEY ("position"))`;
  const index = (name: string, on: string, more = '') =>
    `INDEX "events_${unique}_${name}" ON ${table} (${on})${more}`;
  return [
    create,
    `CREATE UNIQUE ${index('id', '"control_execution_id"')}`,
    ...INDEXES.map(([name, on, condition]) =>
      condition === undefined
        ? `CREATE ${index(name, on)}`
        : `CREATE ${index(name, on, ` WHERE ${condition}`)}`,
    ),
  ].map((text) => Prisma.raw(text));
}

/** Statements before the tables of the view change. */
export function dropView(kind: Kind): Prisma.Sql[] {
  // Those who read events at this moment are not made to wait for long, nor are writers.
  const patience = kind === 'sqlite' ? [] : [Prisma.raw(`SET LOCAL lock_timeout = ${TABLE_LOCK_WAIT_MS}`)];
  return [...patience, Prisma.raw('DROP VIEW IF EXISTS "all_events"')];
}

/** How long a change of tables waits for queries. Longer than PostgreSQL needs to cancel its own cleaning of a table. */
const TABLE_LOCK_WAIT_MS = 1_500;

/** The view over the open table and the segments. Both databases read each of its tables by an index, in order. */
export function createView(kind: Kind, segments: readonly Segment[]): Prisma.Sql {
  const closed =
    kind === 'sqlite'
      ? segments.map(({ number }) => tableName(number))
      : [ARCHIVE, ...segments.filter(({ isOld }) => isOld).map(({ number }) => tableName(number))];
  const tables = [OPEN_TABLE.sql, ...closed];
  return Prisma.raw(
    `CREATE VIEW "all_events" AS ${tables.map((table) => `SELECT ${ALL_COLUMNS.sql} FROM ${table}`).join(' UNION ALL ')}`,
  );
}

/** Statements that make the archive exist, before any other table is created. */
export function createArchive(kind: Kind): Prisma.Sql[] {
  if (kind === 'sqlite') return [];
  return [
    Prisma.raw(`CREATE TABLE IF NOT EXISTS ${ARCHIVE} (LIKE "events") PARTITION BY RANGE ("position")`),
  ];
}

/** Statements that make a table a partition. PostgreSQL reads its rows once to check their positions. */
export function attach(kind: Kind, { number, first, last, isOld }: Segment): Prisma.Sql[] {
  if (kind === 'sqlite' || isOld) return [];
  return [
    Prisma.raw(
      `ALTER TABLE ${ARCHIVE} ATTACH PARTITION ${tableName(number)} FOR VALUES FROM (${first}) TO (${last + 1n})`,
    ),
  ];
}
