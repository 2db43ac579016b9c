import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { HttpSinkConfig } from '../../../../src/contract/config/config-sinks.js';
import { cloudEvent } from '../../../../src/observe/events/sinks/formats/cloud-event.js';
import { ocsfEvent } from '../../../../src/observe/events/sinks/formats/ocsf-event.js';
import { opaDecision } from '../../../../src/observe/events/sinks/formats/opa-decision.js';
import { createHttpSink, type HttpSinkOptions } from '../../../../src/observe/events/sinks/http-sink.js';
import type { SinkTimes } from '../../../../src/observe/events/sinks/sink-runner.js';
import { createSqlEventStore } from '../../../../src/observe/events/sql/sql-event-store.js';
import type { EventStore } from '../../../../src/observe/events/store/event-store.js';
import { type Database, openDatabase } from '../../../../src/storage/database/database.js';
import { createLease, LEASE_MS } from '../../../../src/storage/database/lease.js';
import { describeOnSqlite } from '../../../support/databases.js';
import { executeSql } from '../../../support/sql.js';
import { until } from '../../../support/until.js';
import { storedEvent } from '../events.support.js';
import { type HttpReceiver, type ReceivedRequest, startHttpReceiver } from './http-receiver.js';
import { type TestRunner, testRunner } from './sinks.support.js';

const SOURCE = { instance: 'database-1', version: '1.2.3' };
const SECRET = 'Bearer not-for-log-lines';
const TLS = path.join(import.meta.dirname, '../../../fixtures/tls');
const CERTIFICATE = path.join(TLS, 'test-only-server-cert.pem');

describeOnSqlite('a receiver of HTTP', (freshDatabaseUrl) => {
  let url: string;
  let database: Database;
  let store: EventStore;
  let written = 0;
  const closers: (() => unknown)[] = [];
  beforeAll(async () => {
    url = await freshDatabaseUrl();
    database = await openDatabase({ url });
    store = createSqlEventStore({ database, now: () => Date.now() });
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    await executeSql(url, `BEGIN; DELETE FROM "event_sinks"; DELETE FROM "events"; COMMIT`);
  });
  afterAll(() => database.close());

  /** The ids of stored events, in order. */
  async function write(count: number): Promise<string[]> {
    const events = Array.from({ length: count }, () => {
      written += 1;
      return storedEvent({
        control_execution_id: `event-${written}`,
        matched: written % 3 !== 0,
        step_name: 'a step: "ü" 100%',
        metadata: { text: 'ü"\\', number: 0.1 },
      });
    });
    await store.write(events.map(store.encode));
    return events.map((event) => event.control_execution_id);
  }
  const stored = async () => (await store.tail.after('search', 0n, { namespace: 'all' })).events;
  async function receiver(more: Parameters<typeof startHttpReceiver>[0] = {}): Promise<HttpReceiver> {
    const started = await startHttpReceiver(more);
    closers.push(() => started.stop());
    return started;
  }
  const configOf = (to: Pick<HttpReceiver, 'url'>, more: Partial<HttpSinkConfig> = {}): HttpSinkConfig => ({
    url: to.url,
    format: 'cloudevents',
    mode: 'batch',
    batch: 100,
    headers: { authorization: SECRET },
    gzip: false,
    caFile: null,
    from: 'oldest',
    ...more,
  });
  function run(
    config: HttpSinkConfig,
    more: Partial<HttpSinkOptions> = {},
    times: Partial<SinkTimes> = {},
  ): TestRunner {
    const sink = createHttpSink({ config, source: () => SOURCE, now: Date.now, ...more });
    const runner = testRunner({ sink, database, tail: store.tail, times });
    closers.push(() => runner.close());
    runner.start();
    return runner;
  }
  /** The ids of the CloudEvents of a request in any mode. */
  const idsOf = ({ headers, body }: ReceivedRequest): string[] => {
    const single = headers['ce-id'];
    if (typeof single === 'string') return [single];
    const value: { id: string } | { id: string }[] = JSON.parse(body);
    return [value].flat().map(({ id }) => id);
  };
  const ids = (to: HttpReceiver) => to.kept.flatMap(idsOf);
  const received = (to: HttpReceiver, count: number) =>
    until(
      () => ids(to),
      (found) => new Set(found).size >= count,
    );
  const done = (runner: TestRunner) =>
    until(
      () => runner.figures,
      ({ head, position }) => head > 0n && head === position,
    );

  it.each([
    ['cloudevents', 'application/cloudevents-batch+json', cloudEvent],
    ['ocsf', 'application/json', ocsfEvent],
    ['opa', 'application/json', opaDecision],
  ] as const)('gets every event once, in order, in batches of the format %s', async (format, type, map) => {
    const to = await receiver();
    await write(130);
    await done(run(configOf(to, { format, batch: 50, gzip: format === 'opa' })));
    const values = to.kept.map(({ body }) => JSON.parse(body));
    expect(values.map(({ length }) => length)).toEqual([50, 50, 30]);
    expect(values.flat()).toEqual((await stored()).map((tail) => map(tail, SOURCE)));
    for (const { method, path: asked, headers } of to.kept) {
      expect([method, asked]).toEqual(['POST', '/logs/prod?source=tested']);
      expect(headers).toMatchObject({ 'content-type': type, authorization: SECRET });
      expect(headers['content-encoding']).toBe(format === 'opa' ? 'gzip' : undefined);
    }
  });

  it.each(['structured', 'binary'] as const)('gets one event a request in %s mode', async (mode) => {
    const to = await receiver();
    const all = await write(30);
    await done(run(configOf(to, { mode })));
    expect(ids(to).toSorted()).toEqual(all.toSorted());
    const events = new Map((await stored()).map((tail) => [tail.event.control_execution_id, tail]));
    for (const request of to.kept) {
      const tail = events.get(idsOf(request)[0] ?? '');
      if (tail === undefined) throw new Error('an event that was never stored');
      const { data, ...attributes } = cloudEvent(tail, SOURCE);
      const value = JSON.parse(request.body);
      expect(value).toEqual(mode === 'binary' ? data : { ...attributes, data });
      const { headers } = request;
      if (mode === 'structured') expect(headers['content-type']).toBe('application/cloudevents+json');
      else {
        expect(headers).toMatchObject({ 'content-type': 'application/json', 'ce-specversion': '1.0' });
        expect(decodeURIComponent(String(headers['ce-subject']))).toBe(attributes.subject);
      }
    }
  });

  it('gets what was stored while it was away, after a restart', async () => {
    const first = await receiver();
    const runner = run(configOf(first));
    const before = await write(5);
    await received(first, 5);
    await done(runner);
    await first.stop();
    const meanwhile = await write(20);
    await until(
      () => runner.figures.failures,
      (failures) => failures > 1,
    );
    const second = await receiver({ port: first.port });
    await received(second, 20);
    expect(ids(first)).toEqual(before);
    expect(ids(second)).toEqual(meanwhile);
    expect(runner.logged.map(({ message }) => message)).toContain(
      'events could not be delivered to a sink now',
    );
  });

  it('gets again what it did not take, and nothing that it took before that', async () => {
    const to = await receiver();
    to.next('take', { status: 500 }, { status: 400 }, { status: 302, headers: { location: '/else' } });
    const all = await write(30);
    const runner = run(configOf(to, { batch: 10 }));
    await done(runner);
    expect(ids(to)).toEqual(all);
    expect(to.begun()).toBe(6);
    expect(runner.figures.failures).toBe(3);
    // Each failure names the position up to which it has everything.
    const failures = runner.logged.filter(({ message }) => message.startsWith('events could not be'));
    const after = String((await stored())[9]?.position);
    expect(failures.slice(1).map(({ facts }) => facts)).toEqual(Array(2).fill({ sink: 'http', after }));
  });

  it('gets in halves what is too large for it at once, until it takes them', async () => {
    const to = await receiver();
    const tooLarge = { status: 413 };
    to.next(tooLarge, tooLarge, 'take', 'take', tooLarge);
    const all = await write(10);
    const runner = run(configOf(to, { batch: 10 }));
    await done(runner);
    expect(to.kept.map((request) => idsOf(request).length)).toEqual([3, 2, 3, 2]);
    expect(ids(to)).toEqual(all);
    // One event alone is not given up.
    to.next(tooLarge);
    const [single] = await write(1);
    await received(to, 11);
    expect(ids(to).at(-1)).toBe(single);
    expect(runner.figures.failures).toBe(1);
  });

  it('that breaks connections loses nothing; what it took before it broke one comes again with the same id', async () => {
    const to = await receiver();
    to.next('take', 'break', 'take and break', 'take', 'take and break', 'break');
    const all = await write(60);
    await done(run(configOf(to, { batch: 10 })));
    const found = ids(to);
    expect([...new Set(found)]).toEqual(all);
    expect(found.length).toBe(80);
    const bodies = new Map<string, string>();
    for (const { body } of to.kept) {
      for (const event of JSON.parse(body)) {
        const text = JSON.stringify(event);
        expect(bodies.get(event.id) ?? text).toBe(text);
        bodies.set(event.id, text);
      }
    }
  });

  it.each([
    ['429 with seconds', { status: 429, headers: { 'retry-after': '7' } }, 7_000],
    ['503 with a date', { status: 503, headers: { 'retry-after': new Date(60_000).toUTCString() } }, 59_000],
    ['429 with a day', { status: 429, headers: { 'retry-after': '86400' } }, 600_000],
  ])('that answers %s gets nothing before that', async (_name, reaction, waitMs) => {
    const to = await receiver();
    to.next(reaction);
    let nowMs = 1_000;
    const waits: { readonly ms: number; readonly begun: number }[] = [];
    const all = await write(10);
    const runner = run(configOf(to), {
      now: () => nowMs,
      wait: async (ms) => {
        waits.push({ ms, begun: to.begun() });
        nowMs += ms;
      },
    });
    await done(runner);
    expect(waits).toEqual([{ ms: waitMs, begun: 1 }]);
    expect(ids(to)).toEqual(all);
    expect(runner.figures.failures).toBe(1);
  });

  it('that does not answer is given up and asked again', async () => {
    const to = await receiver();
    to.next('hang', 'hang');
    const all = await write(10);
    const runner = run(configOf(to), { limitMs: 1_000 });
    await done(runner);
    expect(ids(to)).toEqual(all);
    expect(runner.figures.failures).toBe(2);
  });

  it('that answers without an end, or as if another protocol followed, does not hold up what follows', async () => {
    const to = await receiver();
    to.next('take and go on', 'take and go on', 'switch');
    const all = await write(30);
    const runner = run(configOf(to, { batch: 10 }));
    await done(runner);
    expect(ids(to)).toEqual(all);
    expect(runner.figures.failures).toBe(1);
  });

  it('that does not answer, or asks to wait, does not hold up the end of the service', async () => {
    const silent = await receiver();
    silent.next('hang');
    await write(1);
    const hung = run(configOf(silent), {}, { closeMs: 20 });
    await until(silent.begun, (count) => count === 1);
    await hung.close();
    expect(hung.figures.failures).toBe(1);
    const busy = await receiver();
    busy.next({ status: 429, headers: { 'retry-after': '600' } });
    const told = run(configOf(busy), {}, { closeMs: 20, retryMs: 1 });
    await until(
      () => told.figures.failures,
      (failures) => failures === 1,
    );
    await told.close();
    expect(busy.kept).toEqual([]);
  });

  it('gets everything when a process dies in the middle, some of it again, from the process that takes over', async () => {
    const to = await receiver();
    const all = await write(40);
    const end = (await store.tail.state()).head;
    // It had sent twenty events, and stored the position of ten, when it was killed.
    const dead = createLease({ bulk: database.bulk, name: 'http', owner: 'dead', now: () => Date.now() });
    await dead.acquire();
    await dead.renew(end - 30n);
    const sink = createHttpSink({ config: configOf(to), source: () => SOURCE, now: Date.now });
    const session = await sink.open(end - 40n, async () => 0n, new AbortController().signal);
    await session.take((await stored()).slice(0, 20), end - 20n);
    await session.close();
    const next = testRunner({ sink, database, tail: store.tail, now: () => Date.now() + LEASE_MS + 1 });
    closers.push(() => next.close());
    next.start();
    await received(to, 40);
    expect([...new Set(ids(to))]).toEqual(all);
    expect(ids(to)).toEqual([...all.slice(0, 20), ...all.slice(10)]);
  });

  it('is reached over TLS if its authority is known, and its refusals do not tell the headers', async () => {
    const key = readFileSync(path.join(TLS, 'test-only-server-key.pem'));
    const to = await receiver({ tls: { key, cert: readFileSync(CERTIFICATE) } });
    const open = async (config: HttpSinkConfig) => {
      const sink = createHttpSink({ config, source: () => SOURCE, now: Date.now });
      const session = await sink.open(0n, async () => 0n, new AbortController().signal);
      closers.push(() => session.close());
      return session;
    };
    const all = await write(2);
    const events = await stored();
    const unknown = await open(configOf(to));
    await expect(unknown.take(events, 2n)).rejects.toThrow(/certificate/);
    const known = await open(configOf(to, { caFile: CERTIFICATE }));
    await known.take(events, 2n);
    expect(ids(to)).toEqual(all);
    to.next({ status: 403 });
    const refused = await known.take(events, 2n).catch((error: Error) => error);
    expect(String(refused)).toBe(`RefusedDelivery: 127.0.0.1:${to.port} answered with the status 403`);
    await expect(open(configOf(to, { caFile: '/missing.pem' }))).rejects.toThrow(/missing\.pem/);
  });
});
