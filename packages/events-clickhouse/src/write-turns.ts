import { bigintOf } from '../../../src/observe/events/store/count.js';
import { higher } from '../../../src/observe/events/store/position-order.js';
import { OutcomeUnknownError } from '../../../src/storage/database/errors.js';
import type { Insertion } from '../../clickhouse-tables/src/index.js';
import { appliedChanges, countedEvents, knownIds, lastPosition } from './batch-statements.js';
import type { ClickHouseConnection } from './clickhouse-connection.js';
import type { Deletions, Lease, Leases, LogState } from './lease.js';

/** The time in which this process alone may write. */
export interface WriteTurn {
  /** The number of the batch. */
  readonly batch: bigint;
  /** The log, with all batches complete. */
  readonly state: LogState;
  insert(insertion: Insertion): Promise<void>;
  /** Makes known and counts what was inserted into `events` and `event_changes`, and shows it to readers. */
  finish(position: bigint): Promise<void>;
  /** Completes the turn with other deletions in the log. */
  finishPruning(pruned: Deletions): Promise<void>;
}

export interface WriteTurnsOptions {
  readonly connection: ClickHouseConnection;
  readonly leases: Leases;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Runs work while no other process writes. */
export interface WriteTurns {
  /** What `work` has inserted without finishing the turn is finished by the next turn of any process. */
  run<T>(work: (turn: WriteTurn) => Promise<T>): Promise<T>;
}

/**
 * Creates the turns. A batch is several inserts: its events first, then what follows from them. When the writer dies
 * in between, the next turn completes the batch from the events that are there; every insert has a token, so that
 * nothing is inserted twice.
 */
export function createWriteTurns({ connection, leases, now }: WriteTurnsOptions): WriteTurns {
  /** The last stored position at the first turn: the database of the controls may be older than the events. */
  let stored: bigint | undefined;

  /** An insert that ended after the lease could meet those of the next holder. */
  const insert = (lease: Lease, insertion: Insertion) => connection.insert(insertion, lease.left);

  async function follow(lease: Lease, batch: bigint): Promise<void> {
    const nowS = Math.floor(now() / 1_000);
    await Promise.all([insert(lease, knownIds(batch)), insert(lease, countedEvents(batch, nowS))]);
  }

  /** Completes the batch of a writer that died. Returns the position up to which events are complete. */
  async function recover(lease: Lease): Promise<bigint> {
    await insert(lease, appliedChanges(lease.unfinished));
    await follow(lease, lease.unfinished);
    return lastPosition(connection, lease.unfinished);
  }

  /** Completes what was left, and returns the position after which the batch begins. */
  async function prepare(lease: Lease): Promise<bigint> {
    stored ??= await lastStored(connection);
    let position = higher(lease.state.position, stored);
    if (lease.unfinished !== 0n) {
      position = higher(position, await recover(lease));
      await lease.begin(position);
    }
    return position;
  }

  return {
    async run(work) {
      const lease = await leases.take();
      let written: 'nothing' | 'something' = 'nothing';
      try {
        const position = await prepare(lease);
        const result = await work({
          batch: lease.batch,
          state: { ...lease.state, position },
          insert(insertion) {
            written = 'something';
            return insert(lease, insertion);
          },
          async finish(last) {
            await follow(lease, lease.batch);
            await lease.complete(last);
          },
          finishPruning: (pruned) => lease.complete(position, pruned),
        });
        await lease.release(written);
        return result;
      } catch (error) {
        // The server may still be at work: it ends before the lease expires.
        if (!(error instanceof OutcomeUnknownError)) await lease.release(written);
        throw error;
      }
    },
  };
}

async function lastStored(connection: ClickHouseConnection): Promise<bigint> {
  const [row] = await connection.read('search', { text: 'SELECT max(position) FROM events' });
  return bigintOf(row?.[0]);
}
