import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import net from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { namespaceNamed } from '../../../../src/contract/call/namespace.js';
import type { KafkaConfig } from '../../../../src/contract/config/config-sinks.js';
import { cloudEvent } from '../../../../src/observe/events/sinks/formats/cloud-event.js';
import { ocsfEvent } from '../../../../src/observe/events/sinks/formats/ocsf-event.js';
import { createKafkaSink } from '../../../../src/observe/events/sinks/kafka-sink.js';
import type { SinkTimes } from '../../../../src/observe/events/sinks/sink-runner.js';
import { createSqlEventStore } from '../../../../src/observe/events/sql/sql-event-store.js';
import { forwardedEvent } from '../../../../src/observe/events/store/event.js';
import { keyedEvent } from '../../../../src/observe/events/store/event-keys.js';
import type { EventStore } from '../../../../src/observe/events/store/event-store.js';
import { type Database, openDatabase } from '../../../../src/storage/database/database.js';
import { describeOnSqlite } from '../../../support/databases.js';
import {
  type KafkaBroker,
  type KafkaBrokerOptions,
  startKafkaBroker,
} from '../../../support/kafka-broker.js';
import type { KafkaRecord } from '../../../support/kafka-wire.js';
import { executeSql } from '../../../support/sql.js';
import { until } from '../../../support/until.js';
import { allEvents, storedEvent } from '../events.support.js';
import { type TestRunner, testRunner } from './sinks.support.js';

const TOPIC = 'events';
const SOURCE = { instance: 'database-1', version: '1.2.3' };
const hasKcat = spawnSync('kcat', ['-V']).status === 0;
if (!hasKcat)
  console.log('kcat is not installed: what librdkafka reads is not tested (apt-get install kcat)');

describeOnSqlite('a topic of Kafka', (freshDatabaseUrl) => {
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

  async function write(count: number): Promise<void> {
    const events = Array.from({ length: count }, () => {
      written += 1;
      return storedEvent({
        control_execution_id: `event-${written}`,
        agent_name: `agent-number-${written % 7}`,
        action: written % 2 === 0 ? 'deny' : 'observe',
        metadata: { text: 'ü"\\', number: 0.1 },
      });
    });
    await store.write(events.map(store.encode));
  }
  async function broker(more: Partial<KafkaBrokerOptions> = {}): Promise<KafkaBroker> {
    const started = await startKafkaBroker({ topic: TOPIC, partitions: 3, ...more });
    closers.push(() => started.stop());
    return started;
  }
  function run(port: number, more: Partial<KafkaConfig> = {}, times: Partial<SinkTimes> = {}): TestRunner {
    const config: KafkaConfig = {
      brokers: [`127.0.0.1:${port}`],
      topic: TOPIC,
      clientId: 'tested',
      tls: null,
      sasl: null,
      format: 'json',
      from: 'oldest',
      ...more,
    };
    const runner = testRunner({
      sink: createKafkaSink(config, () => SOURCE),
      database,
      tail: store.tail,
      times,
    });
    closers.push(() => runner.close());
    runner.start();
    return runner;
  }
  const all = ({ partitions }: KafkaBroker) => partitions.flat();
  const received = (of: KafkaBroker, count: number) =>
    until(
      () => all(of),
      (records) => records.length >= count,
    );
  const idOf = ({ value }: KafkaRecord) => JSON.parse(value).control_execution_id as string;
  const reasons = (runner: TestRunner) => runner.logged.map(({ message }) => message);

  it('gets each event once, as it is shown to clients, and those of an agent in their order', async () => {
    const to = await broker();
    await write(1_500);
    run(to.port);
    const records = await received(to, 1_500);
    const events = await allEvents(database);
    const shown = new Map(events.map((event) => [event.control_execution_id, event]));
    expect(new Set(records.map(idOf)).size).toBe(1_500);
    for (const record of records) {
      const event = shown.get(idOf(record));
      if (event === undefined) throw new Error(`${idOf(record)} was never stored`);
      const { position, ...value } = JSON.parse(record.value);
      expect(value).toEqual(forwardedEvent(event));
      expect(position).toBeGreaterThan(0);
      expect(record.key).toBe(event.agent_name);
      expect(record.headers).toEqual({
        'content-type': 'application/json',
        action: event.action,
        matched: String(event.matched),
        outcome: event.matched ? event.action : 'allow',
        namespace: 'default',
      });
    }
    for (const partition of to.partitions) {
      expect(partition.length).toBeGreaterThan(0);
      const positions = partition.map(({ value }) => Number(JSON.parse(value).position));
      expect(positions).toEqual([...positions].sort((a, b) => a - b));
    }
    expect(to.producers.size).toBe(1);
  });

  it('names the namespace of each event beside its plain names', async () => {
    const to = await broker({ partitions: 1 });
    const event = storedEvent({ control_execution_id: 'of-a-team' });
    await store.write([store.encode(keyedEvent(event, namespaceNamed('team-a')))]);
    run(to.port);
    const [record] = await received(to, 1);
    expect(record?.key).toBe('team-a/stored-bot-01');
    expect(record?.headers).toMatchObject({ namespace: 'team-a' });
    expect(JSON.parse(record?.value ?? '')).toMatchObject({
      namespace: 'team-a',
      agent_name: 'stored-bot-01',
      control_execution_id: 'of-a-team',
    });
  });

  it.each([
    ['cloudevents', 'application/cloudevents+json', cloudEvent],
    ['ocsf', 'application/json', ocsfEvent],
  ] as const)('has values in the format %s', async (format, contentType, map) => {
    const to = await broker({ partitions: 1 });
    await write(2);
    run(to.port, { format });
    const records = await received(to, 2);
    const tail = await store.tail.after('search', 0n, { namespace: 'all' });
    expect(records.map(({ value }) => JSON.parse(value))).toEqual(
      tail.events.map((event) => map(event, SOURCE)),
    );
    for (const { headers } of records) expect(headers).toMatchObject({ 'content-type': contentType });
  });

  it('has no event twice when acknowledgements are lost', async () => {
    const to = await broker({ partitions: 1 });
    const runner = run(to.port);
    await write(1);
    await received(to, 1);
    to.loseReplies(2);
    await write(10);
    await until(
      () => runner.figures.delivered,
      (delivered) => delivered === 11,
    );
    expect(all(to)).toHaveLength(11);
    expect(to.repeated()).toBe(2);
    expect(to.producers.size).toBe(1);
  });

  it('gets what was stored while no broker could be reached', async () => {
    const first = await broker();
    const { port } = first;
    const runner = run(port);
    await write(5);
    await received(first, 5);
    await until(
      () => runner.figures,
      ({ head, position }) => head === position,
    );
    await first.stop();
    await write(20);
    await until(
      () => runner.figures.failures,
      (failures) => failures > 0,
    );
    const second = await broker({ port });
    await received(second, 20);
    expect(new Set(all(second).map(idOf)).size).toBe(20);
    expect(reasons(runner)).toContain('events could not be delivered to a sink now');
  });

  it('gets events again that a broker has refused', async () => {
    const to = await broker();
    to.refuse(1);
    await write(3);
    const runner = run(to.port);
    await received(to, 3);
    expect(runner.figures.failures).toBe(1);
    // After a failure another producer sends.
    expect(to.producers.size).toBe(2);
  });

  it('has to exist: it is not created', async () => {
    const to = await broker({ topic: 'another' });
    await write(1);
    const runner = run(to.port);
    await until(
      () => runner.figures.failures,
      (failures) => failures > 0,
    );
    expect(all(to)).toEqual([]);
  });

  it('is written to with a name and a password', async () => {
    const sasl = { username: 'writer', password: 'a-long-secret' };
    const to = await broker({ sasl });
    await write(2);
    run(to.port, { sasl: { mechanism: 'PLAIN', ...sasl } });
    await received(to, 2);
  });

  it('that refuses a password is reported without the password', async () => {
    const to = await broker({ sasl: { username: 'writer', password: 'right' } });
    const config: KafkaConfig = {
      brokers: [`127.0.0.1:${to.port}`],
      topic: TOPIC,
      clientId: 'tested',
      tls: null,
      sasl: { mechanism: 'PLAIN', username: 'writer', password: 'a-long-secret' },
      format: 'json',
      from: 'oldest',
    };
    const sink = createKafkaSink(config, () => SOURCE);
    const error = await sink
      .open(null, async () => 0n, new AbortController().signal)
      .catch((thrown: Error) => thrown);
    expect(String(error)).toContain('wrong password ***');
    expect(String(error)).not.toContain('a-long-secret');
  });

  it('whose broker does not answer is given up when the service stops', async () => {
    const silent = net.createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const accepted = new Promise((resolve) => silent.once('connection', resolve));
    const runner = run((silent.address() as net.AddressInfo).port, {}, { closeMs: 50 });
    await accepted;
    await runner.close();
    expect(runner.figures.failures).toBe(1);
    silent.close();
  });

  it.skipIf(!hasKcat)('is read by librdkafka from the broker that it has for tests', async () => {
    const kcat = await startKcat();
    closers.push(() => void kcat.process.kill());
    const front = await broker({ behind: kcat.port, partitions: 4 });
    await write(300);
    run(front.port);
    const lines = await until(
      () => kcat.lines(),
      (printed) => printed.length >= 300,
    );
    const read = lines.map((line) => line.split('\t') as [string, string, string]);
    const events = new Map((await allEvents(database)).map((event) => [event.control_execution_id, event]));
    expect(new Set(read.map(([, , value]) => JSON.parse(value).control_execution_id)).size).toBe(300);
    for (const [key, headers, value] of read) {
      const event = events.get(JSON.parse(value).control_execution_id);
      if (event === undefined) throw new Error('an event that was never stored');
      const { agent_name: agent, action, matched } = event;
      expect(key).toBe(agent);
      const outcome = matched ? action : 'allow';
      expect(headers).toBe(
        `content-type=application/json,action=${action},matched=${matched},outcome=${outcome},namespace=default`,
      );
    }
  });
});

/** A consumer of kcat with the broker that librdkafka has for tests, in one process. */
async function startKcat(): Promise<{ process: ChildProcess; port: number; lines: () => string[] }> {
  const format = '%k\\t%h\\t%s\\n';
  const child = spawn('kcat', [
    ...['-C', '-q', '-u', '-t', TOPIC, '-b', 'unused:1', '-f', format, '-d', 'mock'],
    ...['-X', 'test.mock.num.brokers=1', '-X', 'allow.auto.create.topics=true'],
  ]);
  let printed = '';
  let logged = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    logged += text;
  });
  const address = await until(
    () => /bootstrap\.servers=127\.0\.0\.1:(\d+)/.exec(logged),
    (found) => found !== null,
  );
  return { process: child, port: Number(address?.[1]), lines: () => printed.split('\n').slice(0, -1) };
}
