import { setTimeout as sleep } from 'node:timers/promises';
import { timeLimited } from '../../../contract/call/time-limited.js';
import { ServiceError } from '../../../contract/errors/service-error.js';
import type { RepeatLog } from '../../../contract/runtime/repeat-log.js';
import { unavailable } from '../../../storage/database/errors.js';
import type { EncodedEvent, EventStore } from '../store/event-store.js';
import { printEvent, readEvent } from './event-text.js';
import { Spool } from './spool.js';
import { prepareDirectory } from './spool-folder.js';

/** How long a write may take before its events are kept in the spool, too, in milliseconds. */
const SLOW_MS = 4_000;
/** Pauses between attempts to store what is in the spool. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** Octets of records that are read at once. */
const OCTETS_PER_READ = 4 * 1024 * 1024;

export interface SpooledStoreOptions {
  readonly store: EventStore;
  readonly directory: string;
  readonly maxOctets: number;
  readonly failures: Pick<RepeatLog, 'failed' | 'told'>;
  readonly slowMs?: number;
}

/** What is known of the spool, for metrics. */
export interface SpoolMeter {
  readonly octets: number;
  readonly isEmpty: boolean;
}

/** A store whose writes succeed while it is away, as long as the spool is not full. */
export interface SpooledStore extends EventStore {
  readonly spool: SpoolMeter;
}

/**
 * Keeps events in files while the store is away, and stores them in their order when it is back. While there are some,
 * new events are kept after them. Events may be stored twice that way: the store knows them by their ids. Throws when the
 * directory cannot be created.
 */
export function createSpooledStore(options: SpooledStoreOptions): SpooledStore {
  const { store, directory, maxOctets, failures, slowMs = SLOW_MS } = options;
  prepareDirectory(directory);
  const opening = Spool.open({ directory, maxOctets });
  const closing = new AbortController();
  let spool: Spool | undefined;
  let replaying: Promise<void> | undefined;

  const ready = opening.then(
    (opened) => {
      spool = opened;
      const octets = opened.cutOctets;
      if (octets > 0) failures.told('info', 'cut spool', 'the end of a spool was incomplete', { octets });
      replay(opened);
      return opened;
    },
    (error: unknown) => {
      failures.failed('spool', 'the spool for events cannot be used', error);
      throw unavailable('The spool for events cannot be used.', error);
    },
  );
  ready.catch(() => {});

  function replay(opened: Spool): void {
    if (opened.isEmpty || closing.signal.aborted) return;
    replaying ??= storeAll(opened).finally(() => {
      replaying = undefined;
      // What came after the last look.
      replay(opened);
    });
  }

  /** Never rejects. */
  async function storeAll(opened: Spool): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!opened.isEmpty && !closing.signal.aborted) {
      try {
        const { records, forget } = await opened.next(OCTETS_PER_READ);
        await storeRecords(records);
        await forget();
        pauseMs = FIRST_PAUSE_MS;
        // What is just being appended is read then.
        if (records.length === 0) await sleep(1);
      } catch (error) {
        failures.failed('replay', 'events in the spool cannot be stored now', error, {
          octets: opened.octets,
        });
        await sleep(pauseMs, undefined, { signal: closing.signal }).catch(() => {});
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    }
  }

  /** Rejects when the store is still away. */
  async function storeRecords(records: readonly Buffer[]): Promise<void> {
    const events = records.flatMap((record) => record.toString('utf8').split('\n').map(readEvent));
    const { events: most } = store.groupLimits;
    for (let at = 0; at < events.length; at += most) {
      await storeGroup(events.slice(at, at + most).map((event) => store.encode(event)));
    }
  }

  /** Events that the store can never hold must not keep back the others. */
  async function storeGroup(group: readonly EncodedEvent[]): Promise<void> {
    try {
      await store.write(group);
    } catch (error) {
      if (isAway(error)) throw error;
      if (group.length > 1) {
        for (const one of group) await storeGroup([one]);
        return;
      }
      failures.failed('refused spool', 'an event in the spool can never be stored and is lost', error);
    }
  }

  async function keep(opened: Spool, events: readonly EncodedEvent[]): Promise<void> {
    const kept = opened.append(Buffer.from(events.map(({ event }) => printEvent(event)).join('\n')));
    await kept;
    replay(opened);
  }

  return {
    ...store,
    spool: {
      get octets() {
        return spool?.octets ?? 0;
      },
      get isEmpty() {
        return spool?.isEmpty ?? true;
      },
    },
    async write(events) {
      const opened = await ready;
      if (!opened.isEmpty) return keep(opened, events);
      const writing = store.write(events);
      try {
        await withinTime(writing, slowMs);
      } catch (error) {
        if (!isAway(error)) throw error;
        failures.failed('event store', 'the event store is away; events are kept in the spool', error);
        await keep(opened, events);
      }
    },
    async close() {
      closing.abort();
      await replaying;
      await opening.then((opened) => opened.close()).catch(() => {});
      await store.close();
    },
  };
}

function isAway(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE';
}

/** Rejects with SERVICE_UNAVAILABLE when the work takes longer; it goes on then. */
function withinTime(work: Promise<void>, limitMs: number): Promise<void> {
  return timeLimited(work, limitMs, () => {
    throw unavailable('The event store takes too long.');
  });
}
