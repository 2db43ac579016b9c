import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase, BulkTransaction } from '../../../storage/database/bulk.js';
import type { DatabaseLocation } from '../../../storage/database/database-url.js';
import { type JsonElements, jsonElements } from '../../../storage/database/json-elements.js';
import { TRUE } from '../../../storage/database/text.js';
import type { ControlEvent } from '../store/event.js';
import { mergeEvents } from '../store/event-merge.js';
import type { EncodedEvent, WriteEvents } from '../store/event-store.js';
import type { StoredEvent } from '../store/event-tail.js';
import {
  COLUMNS_WITHOUT_STEP,
  EVERY_COLUMN,
  eventRow,
  HAS_LONG_NAME,
  HAS_STEP,
  ID_FROM_ELEMENT,
  IS_OF_OTHERS,
  nameKey,
  READ_COLUMNS,
  readEvent,
  SET_FROM_ELEMENT,
} from './event-row.js';
import { agentsOfOthers, countByNamespace } from './namespace-events.js';
import { advanceRollups } from './rollups.js';
import { OPEN_TABLE, tableOf } from './segment-tables.js';
import { lockLog } from './segments.js';
import { StoredIds } from './stored-ids.js';

export interface EventWriterOptions {
  readonly database: {
    readonly kind: DatabaseLocation['kind'];
    readonly bulk: Pick<BulkDatabase, 'transaction'>;
  };
  /** The ids in closed segments. */
  readonly ids?: StoredIds;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called when the open table should be closed. */
  readonly onFull?: () => void;
}

/**
 * Creates the writer. Events whose id is already stored change nothing, or are merged with the stored one
 * (`mergeEvents`); the rollups are advanced for exactly these changes. The first statement locks the single
 * row of `event_log`: so all writers of all processes take turns, positions are in commit order, and the
 * locks that follow cannot deadlock.
 */
export function createEventWriter(options: EventWriterOptions): WriteEvents {
  const { database, ids = new StoredIds(), now, onFull = () => {} } = options;
  const elements = jsonElements(database.kind);
  return async (events) => {
    const { firsts, seconds } = sortOut(events);
    const position = await database.bulk.transaction(async (tx) => {
      const nowS = Math.floor(now() / 1000);
      const { position, generation } = await lockLog(tx, firsts.length);
      const base = position - BigInt(firsts.length);
      await ids.refresh(tx, generation);
      await keepLongNames(tx, elements, events);
      const closed = await ids.find(
        tx,
        elements,
        firsts.map(({ id }) => id),
      );
      const isOpen = ({ id }: EncodedEvent) => !closed.has(id);
      const news = closed.size === 0 ? firsts : firsts.filter(isOpen);
      const inserted = await insert(tx, elements, news, base);
      if (inserted > 0) {
        const where = Prisma.sql`"position" > ${base} AND "position" <= ${position}`;
        await tx.run(
          advanceRollups(OPEN_TABLE, where, 1, nowS),
          Prisma.sql`UPDATE "event_log" SET "events" = "events" + ${inserted} WHERE "id" = 1`,
        );
        if (news.some(({ traits }) => (traits & IS_OF_OTHERS) !== 0))
          await countByNamespace(tx, elements, await agentsOfOthers(tx, OPEN_TABLE, where));
      }
      const known = inserted === news.length ? [] : news;
      const later = seconds.filter(isOpen);
      const upTo = later.length > 0 ? null : base;
      await mergeStored(tx, elements, { table: OPEN_TABLE, batch: [...known, ...later], upTo, nowS });
      for (const segment of new Set(closed.values())) {
        const isThere = ({ id }: EncodedEvent) => closed.get(id) === segment;
        const batch = [...firsts.filter(isThere), ...seconds.filter(isThere)];
        await mergeStored(tx, elements, { table: tableOf(segment), batch, upTo: null, nowS });
      }
      return position;
    });
    if (ids.isFull(position)) onFull();
  };
}

/** The first event of each check, and the second one of checks reported by both a client and the service. */
function sortOut(events: readonly EncodedEvent[]): { firsts: EncodedEvent[]; seconds: EncodedEvent[] } {
  const firsts = new Map<string, EncodedEvent>();
  const seconds = new Map<string, EncodedEvent>();
  for (const each of events) {
    const { id } = each;
    const first = firsts.get(id);
    if (first === undefined) firsts.set(id, each);
    else if (!seconds.has(id) && mergeEvents(first.event, each.event) !== first.event) seconds.set(id, each);
  }
  return { firsts: [...firsts.values()], seconds: [...seconds.values()] };
}

/** Stores the events with a new id, and returns their number. */
async function insert(
  tx: BulkTransaction,
  elements: JsonElements,
  batch: readonly EncodedEvent[],
  base: bigint,
): Promise<number> {
  if (batch.length === 0) return 0;
  const { names, values } = batch.some(({ traits }) => (traits & HAS_STEP) !== 0)
    ? EVERY_COLUMN
    : COLUMNS_WITHOUT_STEP;
  const [result] = await tx.run(Prisma.sql`
    INSERT INTO ${OPEN_TABLE} ("position", ${names})
    SELECT CAST(${base} AS BIGINT) + "ordinal", ${values}
    FROM ${elements(jsonList(batch.map(({ row }) => row)))} WHERE 1 = 1
    ON CONFLICT ("control_execution_id") DO NOTHING`);
  return result?.changes ?? 0;
}

/** Stores the control names that are too long for a key; nearly no batch has one. */
async function keepLongNames(
  tx: BulkTransaction,
  elements: JsonElements,
  events: readonly EncodedEvent[],
): Promise<void> {
  const names = new Map<string, string>();
  for (const each of events) {
    if ((each.traits & HAS_LONG_NAME) === 0) continue;
    const { event } = each;
    const key = nameKey(event.control_name);
    if (key !== null) names.set(key, JSON.stringify([key, event.control_name]));
  }
  if (names.size === 0) return;
  await tx.run(Prisma.sql`
    INSERT INTO "event_control_names" ("name_key", "control_name")
    SELECT "item" ->> 0, "item" ->> 1 FROM ${elements(jsonList([...names.values()]))} WHERE 1 = 1
    ON CONFLICT ("name_key") DO NOTHING`);
}

interface Merging {
  readonly table: Prisma.Sql;
  readonly batch: readonly EncodedEvent[];
  /** The last position to read. */
  readonly upTo: bigint | null;
  readonly nowS: number;
}

/** Merges events that are stored in a table with those of the batch. */
async function mergeStored(
  tx: BulkTransaction,
  elements: JsonElements,
  { table, batch, upTo, nowS }: Merging,
): Promise<void> {
  if (batch.length === 0) return;
  const sent = new Map<string, ControlEvent[]>();
  for (const { event } of batch) {
    const others = sent.get(event.control_execution_id);
    if (others === undefined) sent.set(event.control_execution_id, [event]);
    else others.push(event);
  }
  const ids = JSON.stringify([...sent.keys()].map((id) => [id]));
  // Those of origin 3 are complete.
  const [found] = await tx.run(Prisma.sql`
    SELECT ${READ_COLUMNS} FROM ${table}
    WHERE "control_execution_id" IN (SELECT "item" ->> 0 FROM ${elements(ids)})
      AND "origin" <> 3 AND ${upTo === null ? TRUE : Prisma.sql`"position" <= ${upTo}`}`);
  const changed: StoredEvent[] = [];
  for (const { position, event } of (found?.rows ?? []).map(readEvent)) {
    const merged = (sent.get(event.control_execution_id) ?? []).reduce(mergeEvents, event);
    if (merged !== event) changed.push({ position, event: merged });
  }
  if (changed.length === 0) return;
  const positions = JSON.stringify(changed.map(({ position }) => [String(position)]));
  const areChanged = Prisma.sql`
    "position" IN (SELECT CAST("item" ->> 0 AS BIGINT) FROM ${elements(positions)})`;
  const rows = jsonList(changed.map(({ event }) => eventRow(event)));
  await tx.run(
    advanceRollups(table, areChanged, -1, nowS),
    Prisma.sql`
      UPDATE ${table} SET ${SET_FROM_ELEMENT} FROM ${elements(rows)}
      WHERE "control_execution_id" = ${ID_FROM_ELEMENT}`,
    advanceRollups(table, areChanged, 1, nowS),
  );
}

function jsonList(items: readonly string[]): string {
  return `[${items.join(',')}]`;
}
