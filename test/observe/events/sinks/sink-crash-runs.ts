import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createFolderFiles } from '../../../../packages/versioned-files/src/index.js';
import { createEventStore } from '../../../../src/app/wiring/event-store.js';
import { readConfig } from '../../../../src/contract/config/config.js';
import { openDatabase } from '../../../../src/storage/database/database.js';
import { caseSeed, Random } from '../../../serve/wire/random.js';
import { eventStoreOf } from '../../../support/clickhouse.js';
import { type KafkaBroker, startKafkaBroker } from '../../../support/kafka-broker.js';
import { type CompiledService, type ServiceProcess, spawnService } from '../../../support/service-process.js';
import { executeSql } from '../../../support/sql.js';
import { until } from '../../../support/until.js';
import { startHttpReceiver } from './http-receiver.js';
import { allRows, listedFiles } from './parquet-files.js';

const TOPIC = 'events';
const CONNECTIONS = 4;
const LEAST_ACKNOWLEDGED = 8;

const countOf = ({ partitions }: KafkaBroker) => partitions.reduce((sum, { length }) => sum + length, 0);

/** What the runs found; the last five have to be 0. */
export interface SinkCrashReport {
  readonly seed: number;
  readonly stored: number;
  readonly files: number;
  /** Messages beyond the first of an event, which may occur after a crash. */
  readonly repeatedMessages: number;
  /** Stored, but not in a listed file, or more than once. */
  readonly missingInFiles: number;
  readonly doubledInFiles: number;
  /** In a listed file, but not stored. */
  readonly unknownInFiles: number;
  /** Stored, but never sent to Kafka. */
  readonly missingMessages: number;
  /** Stored, but never taken by the receiver of HTTP. */
  readonly missingAtReceiver: number;
}

/** A report as it has to be. */
export const NOTHING_WRONG = {
  missingInFiles: 0,
  doubledInFiles: 0,
  unknownInFiles: 0,
  missingMessages: 0,
  missingAtReceiver: 0,
} satisfies Partial<SinkCrashReport>;

/**
 * Kills the service again and again while it stores events and copies them to all sinks, and compares what is in the
 * sinks with what is stored.
 */
export async function sinkCrashRuns(options: {
  readonly compiled: CompiledService;
  readonly databaseUrl: string;
  readonly kills: number;
  readonly seed?: number;
  /** How long the service runs at most after a first delivery before it is killed. */
  readonly longestRunMs?: number;
}): Promise<SinkCrashReport> {
  const { compiled, databaseUrl, kills, seed = caseSeed(), longestRunMs = 2_000 } = options;
  const random = new Random(seed);
  const folder = await mkdtemp(path.join(tmpdir(), 'sink-crash-'));
  const broker = await startKafkaBroker({ topic: TOPIC, partitions: 2 });
  const receiver = await startHttpReceiver();
  const files = createFolderFiles(folder);
  const environment = {
    DATABASE_URL: databaseUrl,
    SERVICE_LOG_JSON: 'true',
    SERVICE_EVENT_RETENTION_DAYS: '0',
    SERVICE_EVENT_PARQUET: folder,
    SERVICE_EVENT_PARQUET_INTERVAL_SECONDS: '1',
    SERVICE_EVENT_PARQUET_MAX_ROWS: '200',
    SERVICE_EVENT_KAFKA_BROKERS: `127.0.0.1:${broker.port}`,
    SERVICE_EVENT_KAFKA_TOPIC: TOPIC,
    SERVICE_EVENT_HTTP_URL: receiver.url,
  };
  let sent = 0;

  function body(): string {
    const events = Array.from({ length: 1 + random.below(300) }, () => {
      sent += 1;
      return {
        control_execution_id: `${sent}`,
        trace_id: 'trace',
        span_id: 'span',
        agent_name: `crashed-bot-${sent % 5}`,
        control_id: sent % 7,
        control_name: 'crashed',
        check_stage: 'pre',
        applies_to: 'llm_call',
        action: 'deny',
        matched: true,
        confidence: random.below(1_000) / 1_000,
      };
    });
    return JSON.stringify({ events });
  }

  /** Ends when the service does not answer any more. */
  async function ingest(url: string, acknowledged: () => void): Promise<void> {
    for (;;) {
      try {
        const reply = await fetch(`${url}/api/v1/observability/events`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: body(),
        });
        await reply.text();
        if (reply.status === 202) acknowledged();
      } catch {
        return;
      }
    }
  }

  let service: ServiceProcess | undefined;
  try {
    for (let run = 0; run < kills; run += 1) {
      service = await spawnService(compiled, { environment });
      const url = await service.listening();
      let acknowledgements = 0;
      const ingesting = Array.from({ length: CONNECTIONS }, () =>
        ingest(url, () => {
          acknowledgements += 1;
        }),
      );
      const before = countOf(broker);
      // Events for several files, on a slow machine too.
      await until(
        () => acknowledgements,
        (count) => count >= LEAST_ACKNOWLEDGED,
      );
      // Both sinks are at work then.
      await until(
        () => countOf(broker),
        (count) => count > before,
      );
      await pause(random.below(longestRunMs));
      service.process.kill('SIGKILL');
      await Promise.all(ingesting);
      await service.dispose();
      // Time passes: the next process would deliver nothing before the lease expires.
      await executeSql(databaseUrl, `UPDATE "event_sinks" SET "lease_until_ms" = 0`);
    }
    const database = await openDatabase({ url: databaseUrl });
    try {
      const config = readConfig(eventStoreOf(databaseUrl)).observability;
      const store = await createEventStore({ config, database, now: () => Date.now() });
      const { head } = await store.tail.state();
      service = await spawnService(compiled, { environment });
      await until(
        async () => (await listedFiles(files)).at(-1)?.up_to ?? 0,
        (end) => end >= Number(head),
      );
      const ids: string[] = [];
      for await (const part of store.search.walk({}))
        ids.push(...part.map((event) => event.control_execution_id));
      const messages = await until(
        () => broker.partitions.flat().map(({ value }) => String(JSON.parse(value).control_execution_id)),
        (known) => new Set(known).size >= ids.length,
      );
      const receivedIds = () =>
        new Set(
          receiver.kept.flatMap(({ body }) => (JSON.parse(body) as { id: string }[]).map(({ id }) => id)),
        );
      const taken = await until(receivedIds, (known) => known.size >= ids.length);
      service.process.kill('SIGTERM');
      await service.ended;
      const stored = new Set(ids);
      const sentOnce = new Set(messages);
      const inFiles = (await allRows(files)).map((row) => String(row.control_execution_id));
      const distinct = new Set(inFiles);
      await store.close();
      return {
        seed,
        stored: ids.length,
        files: (await listedFiles(files)).length,
        repeatedMessages: messages.length - sentOnce.size,
        missingInFiles: ids.filter((id) => !distinct.has(id)).length,
        doubledInFiles: inFiles.length - distinct.size,
        unknownInFiles: inFiles.filter((id) => !stored.has(id)).length,
        missingMessages: ids.filter((id) => !sentOnce.has(id)).length,
        missingAtReceiver: ids.filter((id) => !taken.has(id)).length,
      };
    } finally {
      await database.close();
    }
  } finally {
    await service?.dispose();
    await broker.stop();
    await receiver.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
