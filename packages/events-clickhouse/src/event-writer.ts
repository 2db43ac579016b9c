import type { ControlEvent } from '../../../src/observe/events/store/event.js';
import { mergeEvents } from '../../../src/observe/events/store/event-merge.js';
import type { EncodedEvent, WriteEvents } from '../../../src/observe/events/store/event-store.js';
import { partitionOf } from '../../clickhouse-tables/src/index.js';
import { appliedChanges, keptChanges, newEvents } from './batch-statements.js';
import type { ClickHouseConnection } from './clickhouse-connection.js';
import { encodeEvent, rowLine, timeOfRow } from './clickhouse-row.js';
import { findKnown, type KnownEvents, readKnown } from './known-events.js';
import type { WriteTurn, WriteTurns } from './write-turns.js';

/** Kept changes of complete batches are deleted after so many batches. */
const BATCHES_OF_CHANGES = 200;

export interface EventWriterOptions {
  readonly connection: ClickHouseConnection;
  readonly turns: WriteTurns;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** All events of a call with the same id, in order. */
interface Sent {
  readonly first: EncodedEvent;
  readonly all: EncodedEvent[];
}

/** Creates the writer: it looks up which ids are known, inserts events with others, and merges the rest. */
export function createEventWriter({ connection, turns, now }: EventWriterOptions): WriteEvents {
  let batchesWithChanges = 0;

  /** The pairs of rows that replace stored events by their merged forms. */
  async function changesOf(known: KnownEvents, sent: ReadonlyMap<string, Sent>, batch: bigint) {
    const stored = await readKnown(connection, known.values());
    return stored.flatMap(({ event, position, version, partition }) => {
      const merged = (sent.get(event.control_execution_id)?.all ?? []).reduce(
        (known: ControlEvent, later) => mergeEvents(known, later.event),
        event,
      );
      if (merged === event) return [];
      const keys = { position, batch, partition };
      return [
        rowLine({ ...keys, sign: -1, version }, encodeEvent(event).row),
        rowLine({ ...keys, sign: 1, version: version + 1 }, encodeEvent(merged).row),
      ];
    });
  }

  async function insertChanges(turn: WriteTurn, changes: readonly string[]): Promise<void> {
    batchesWithChanges += 1;
    // Those of earlier batches are complete.
    if (batchesWithChanges % BATCHES_OF_CHANGES === 0)
      await connection.command('TRUNCATE TABLE event_changes');
    await turn.insert(keptChanges(turn.batch, changes));
    await turn.insert(appliedChanges(turn.batch));
  }

  return (events) => {
    const sent = byId(events);
    return turns.run(async (turn) => {
      const { batch, state } = turn;
      const nowMs = now();
      const known = await findKnown(connection, [...sent.keys()], state);
      let { position } = state;
      const lines: string[] = [];
      for (const [id, one] of sent) {
        if (known.has(id)) continue;
        position += 1n;
        const { row } = merged(one);
        const partition = partitionOf(timeOfRow(row), nowMs);
        lines.push(rowLine({ sign: 1, version: 0, position, batch, partition }, row));
      }
      const changes = await changesOf(known, sent, batch);
      if (lines.length + changes.length === 0) return;
      if (lines.length > 0) await turn.insert(newEvents(batch, lines));
      if (changes.length > 0) await insertChanges(turn, changes);
      await turn.finish(position);
    });
  };
}

function byId(events: readonly EncodedEvent[]): ReadonlyMap<string, Sent> {
  const sent = new Map<string, Sent>();
  for (const one of events) {
    const known = sent.get(one.id);
    if (known === undefined) sent.set(one.id, { first: one, all: [one] });
    else known.all.push(one);
  }
  return sent;
}

/** What is stored of several events of one check. */
function merged({ first, all }: Sent): EncodedEvent {
  if (all.length === 1) return first;
  const event = all.map((one) => one.event).reduce(mergeEvents);
  return event === first.event ? first : encodeEvent(event);
}
