import { bigintOf } from '../../../src/observe/events/store/count.js';
import type { Insertion } from '../../clickhouse-tables/src/index.js';
import type { ClickHouseConnection } from './clickhouse-connection.js';
import { COLUMN_NAMES } from './clickhouse-row.js';
import { addBatchToRollups, rowsOfBatch } from './rollup-statements.js';

/** Inserts new events. */
export const newEvents = (batch: bigint, lines: readonly string[]): Insertion => ({
  text: `INSERT INTO events (${COLUMN_NAMES})`,
  lines,
  token: `${batch}-events`,
});

/**
 * Keeps the pairs that replace events by their merged form. In `events`, a pair may vanish at once together with the
 * row that it cancels, so that the batch could not be completed from there.
 */
export const keptChanges = (batch: bigint, lines: readonly string[]): Insertion => ({
  text: `INSERT INTO event_changes (${COLUMN_NAMES})`,
  lines,
  token: `${batch}-kept`,
});

/** Applies the pairs of a batch. */
export const appliedChanges = (batch: bigint): Insertion => ({
  text: `
    INSERT INTO events (${COLUMN_NAMES})
    SELECT ${COLUMN_NAMES} FROM event_changes WHERE batch = ${batch} ORDER BY position, version, sign`,
  token: `${batch}-changes`,
});

/** Makes the ids of a batch known, with where their events are. */
export const knownIds = (batch: bigint): Insertion => ({
  text: `
    INSERT INTO event_ids (hash, id, position, version, time_us, partition)
    SELECT cityHash64(control_execution_id), control_execution_id, position, version, time_us, partition
    FROM (${rowsOfBatch(batch, 'sign, control_execution_id, position, version, time_us, partition')})
    WHERE sign = 1`,
  token: `${batch}-ids`,
});

/** Counts the events of a batch. */
export const countedEvents = (batch: bigint, nowS: number): Insertion => ({
  text: addBatchToRollups(batch, nowS),
  token: `${batch}-rollups`,
});

/** The last position of the new events of a batch; 0 when none of them is there. */
export async function lastPosition(connection: ClickHouseConnection, batch: bigint): Promise<bigint> {
  const [row] = await connection.read('statistics', {
    text: `SELECT max(position) FROM events WHERE batch = ${batch}`,
  });
  return bigintOf(row?.[0]);
}
