import { afterEach, describe, expect, it } from 'vitest';
import type { UnreadMessage } from '../../../src/contract/call/handler.js';
import { IngestFullError } from '../../../src/observe/events/event-ingest.js';
import type { ReadEvents } from '../../../src/observe/events/read-events.js';
import { decodeRow } from '../../../src/observe/events/sql/event-row.js';
import {
  createEventReaders,
  type EventReaderOptions,
  type EventReaderThreads,
} from '../../../src/serve/event-reading/event-readers.js';
import { until } from '../../support/until.js';
import { formsOf, MANY, plainEvent } from './messages.support.js';

const SQLITE = { kind: 'sqlite', decode: decodeRow } as const;
const MORTAL = new URL('./mortal-reader.mjs', import.meta.url);

let threads: EventReaderThreads | undefined;
let told: string[] = [];
afterEach(async () => {
  await threads?.close();
  told = [];
});

function open(options: Partial<EventReaderOptions> = {}) {
  threads = createEventReaders({
    store: SQLITE,
    threads: 1,
    duplicates: 'refuse',
    entry: MORTAL,
    now: () => 1_700_000_000_000,
    failures: { failed: (_key, message) => told.push(message) },
    ...options,
  });
  if (threads === undefined) throw new Error('there are no threads');
  const { readers } = threads;
  const call = { ignores() {}, whenEnded() {} };
  return (rpc: Parameters<typeof readers>[0]) => {
    const { takes, read } = readers(rpc);
    return { takes, read: (sent: UnreadMessage) => read(sent, call) };
  };
}

/** A message with this many events, in memory of its own. */
const message = (events = MANY, name = 'one') => ({
  form: 'binary' as const,
  bytes: new Uint8Array(
    formsOf(Array.from({ length: events }, (_, index) => plainEvent(`${name}-${index}`))).binary ?? [],
  ),
});
const DEADLY = 'the thread ends here';
const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE', options: { retryAfterSeconds: 1 } };
const ids = ({ encoded }: ReadEvents) => encoded.map(({ id }) => id);

describe('a reader of events', () => {
  it('reads messages in their order, with all that is in them', async () => {
    const { read } = open()('publishEvents');
    const made = await Promise.all([read(message(30, 'a')), read(message(40, 'b'))]);
    expect(made.map((one) => one.encoded.length)).toEqual([30, 40]);
    expect(ids(made[0] as ReadEvents)[29]).toBe('a-29');
    expect(made[1]?.encoded[39]?.event).toMatchObject(
      plainEvent('b-39', {
        timestamp: { us: 1_767_610_800_123_456n, text: '2026-01-05T12:00:00.123456+01:00' } as never,
      }),
    );
  });

  it('does not take over memory that holds something else', async () => {
    const { read } = open()('createEvents');
    const { bytes } = message();
    const around = new Uint8Array(bytes.length + 10).fill(7);
    around.set(bytes, 5);
    await read({ form: 'binary', bytes: around.subarray(5, -5) });
    expect(around.subarray(0, 5)).toEqual(new Uint8Array(5).fill(7));
    expect(around.subarray(5, -5)).toEqual(bytes);
  });

  it('fails the message that ended its thread, and reads all others', async () => {
    const { read } = open()('createEvents');
    const results = await Promise.allSettled([
      read(message(MANY, 'before')),
      read(message(MANY, DEADLY)),
      read(message(MANY, 'after')),
    ]);
    expect(results).toMatchObject([
      { status: 'fulfilled', value: { areStorable: true } },
      { status: 'rejected', reason: UNAVAILABLE },
      { status: 'fulfilled', value: { areStorable: true } },
    ]);
    expect(told).toEqual(['a thread that reads events ended']);
    expect(ids(await read(message(MANY, 'again')))).toHaveLength(MANY);
  });

  it('fails a message that takes too long, and reads the next one', async () => {
    const { read } = open({ limits: { readMs: 500 } })('createEvents');
    const stuck = read(message(MANY, 'the thread is stuck here'));
    await expect(stuck).rejects.toMatchObject(UNAVAILABLE);
    await until(
      () => told,
      (lines) => lines.includes('a thread that reads events ended'),
    );
    await threads?.close();
    expect(ids(await open()('createEvents').read(message()))).toHaveLength(MANY);
  });

  it('fails every message when its thread cannot start', async () => {
    const { read } = open({ entry: new URL('./no-such-module.mjs', import.meta.url) })('ingestEvents');
    const results = await Promise.allSettled([read(message()), read(message())]);
    expect(results).toMatchObject([
      { status: 'rejected', reason: UNAVAILABLE },
      { status: 'rejected', reason: UNAVAILABLE },
    ]);
  });

  it('refuses messages of unary calls, but none of streams, when too many bytes wait', async () => {
    const readers = open({ limits: { waitingBytes: 1.5 * message().bytes.length } });
    const { read } = readers('createEvents');
    const first = read(message());
    await expect(read(message())).rejects.toBeInstanceOf(IngestFullError);
    await expect(read(message())).rejects.toMatchObject(UNAVAILABLE);
    const ofStreams = Array.from({ length: 5 }, () => readers('publishEvents').read(message()));
    await Promise.all([first, ...ofStreams]);
    await read(message());
  });

  it('takes a single message that is larger than what may wait', async () => {
    const { read } = open({ limits: { waitingBytes: 10 } })('createEvents');
    expect(ids(await read(message()))).toHaveLength(MANY);
  });

  it('fails what is not read when it closes', async () => {
    const { read } = open()('createEvents');
    const results = Promise.allSettled([read(message()), read(message())]);
    await threads?.close();
    expect(await results).toMatchObject([
      { status: 'rejected', reason: UNAVAILABLE },
      { status: 'rejected', reason: UNAVAILABLE },
    ]);
  });

  it('leaves small messages to the thread that serves requests', () => {
    const { takes } = open()('createEvents');
    expect([takes(0), takes(500), takes(100_000)]).toEqual([false, false, true]);
  });

  it('is not there without threads', () => {
    const options = {
      threads: 0,
      duplicates: 'refuse' as const,
      now: () => 0,
      failures: { failed: () => {} },
    };
    expect(createEventReaders({ ...options, store: SQLITE })).toBeUndefined();
  });
});
