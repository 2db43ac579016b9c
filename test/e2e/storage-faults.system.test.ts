import { copyFile, mkdtemp, open, rename, rm, stat, truncate, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '@connectrpc/connect';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from '../../gen/proto/grpc/health/v1/health_pb.js';
import { openSqliteConnection, type SqliteConnection } from '../../src/storage/database/sqlite-connection.js';
import { problemsOf } from '../observe/problems/problems.support.js';
import { makeReadOnly, mountSmallDisk, quickFolder } from '../support/faulty-disks.js';
import { type RestClient, restClient } from '../support/http.js';
import { metric, parseMetrics } from '../support/prometheus.js';
import { problem } from '../support/refusals.js';
import { rpcTransport } from '../support/rpc-transports.js';
import { evaluate, seeder } from '../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../support/service-process.js';
import { executeSql } from '../support/sql.js';
import { until } from '../support/until.js';
import { event } from './events.support.js';

const AGENT = 'loaded-agent-1';
const NEED_WRITES = [
  'AccessRequestService',
  'AgentService',
  'ApprovalService',
  'AuditService',
  'ConfigurationService',
  'ControlBindingService',
  'ControlService',
  'CoverageService',
  'HaltService',
  'KeyService',
  'MemoryService',
  'NamespaceService',
  'NotificationService',
  'ObservabilityService',
  'PackService',
  'PolicyService',
  'SampleService',
  'ShadowService',
];
const NEED_NONE = [
  'AdapterService',
  'AuthService',
  'AuthzenService',
  'EvaluatorService',
  'ServerService',
  'TemplateService',
  'agentgateway.dev.ext_mcp.ExtMcp',
  'envoy.service.auth.v3.Authorization',
];
const PREFIX = 'storage-faults-';
const CASE_LIMIT_MS = 600_000;
/** Between two writes. */
const PAUSE_MS = 5;

interface Fault {
  /** Does it to the file of the database. Resolves with what takes it back, if that is possible. */
  readonly cause: (file: string) => Promise<unknown>;
  readonly state: string;
  /** Takes it back; then everything must go on by itself. */
  readonly undo?: (file: string) => Promise<unknown>;
  /** Everything that was ever acknowledged is found after a restart, also what was before the fault. */
  readonly losesNothing?: boolean;
  /** The line of the log that says that what was at risk is saved. */
  readonly saves?: RegExp;
}

/** Copies the log into the database, so that a fault of the database concerns all of it. */
const checkpoint = (file: string) => executeSql(`file:${file}`, 'PRAGMA wal_checkpoint(TRUNCATE)');

async function overwrite(file: string, from: number, bytes: Buffer): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.write(bytes, 0, bytes.length, from);
  await handle.close();
}

let readOnly: Awaited<ReturnType<typeof makeReadOnly>> | undefined;

const FAULTS: Record<string, Fault> = {
  'its file is deleted': { cause: unlink, state: 'REPLACED' },
  'its file is moved away and back': {
    cause: (file) => rename(file, `${file}.moved`),
    state: 'REPLACED',
    undo: (file) => rename(`${file}.moved`, file),
    losesNothing: true,
  },
  'its file is replaced by a copy': {
    async cause(file) {
      await copyFile(file, `${file}.copy`);
      await rename(`${file}.copy`, file);
    },
    state: 'REPLACED',
  },
  'its file is emptied': { cause: (file) => truncate(file, 0), state: 'CORRUPT' },
  'its file is cut in half': {
    async cause(file) {
      await checkpoint(file);
      await truncate(file, Math.floor((await stat(file)).size / 8192) * 4096);
    },
    state: 'CORRUPT',
  },
  'its file is overwritten with garbage': {
    cause: async (file) => overwrite(file, 0, Buffer.alloc((await stat(file)).size, 0x5a)),
    state: 'CORRUPT',
  },
  'its log (-wal) is removed': {
    cause: (file) => unlink(`${file}-wal`),
    state: 'REPLACED',
    losesNothing: true,
    saves: /all that it held was copied into the database/,
  },
  'its log (-wal) is emptied': { cause: (file) => truncate(`${file}-wal`, 0), state: 'CORRUPT' },
  'its log (-wal) is made read-only': {
    async cause(file) {
      readOnly = await makeReadOnly(`${file}-wal`);
      console.log(`read-only by ${readOnly.by}`);
    },
    state: 'READONLY',
    undo: async () => readOnly?.undo(),
    losesNothing: true,
  },
  'its file is made read-only': {
    async cause(file) {
      readOnly = await makeReadOnly(file);
    },
    state: 'READONLY',
    undo: async () => readOnly?.undo(),
    losesNothing: true,
  },
};

/** Stores events and policies one after the other, and remembers what was acknowledged, and when it was sent. */
function startWriting(call: RestClient) {
  const acknowledged: {
    readonly kind: 'event' | 'policy';
    readonly name: string;
    readonly sentAtMs: number;
  }[] = [];
  let isOver = false;
  let last = 0;
  const each = async (kind: 'event' | 'policy'): Promise<void> => {
    while (!isOver) {
      last += 1;
      const name = `${kind}-${last}`;
      const sentAtMs = performance.now();
      const reply = await (kind === 'event'
        ? call('POST', '/api/v1/observability/events', { events: [event({ control_execution_id: name })] })
        : call('PUT', '/api/v1/policies', { name })
      ).catch(() => null);
      // The service has ended, and with it the test.
      if (reply === null) return;
      const isStored =
        kind === 'event' ? reply.status === 202 && reply.body.enqueued === 1 : reply.status === 200;
      if (isStored) acknowledged.push({ kind, name, sentAtMs });
      expect([200, 202, 503]).toContain(reply.status);
      await pause(PAUSE_MS);
    }
  };
  const writing = Promise.all([each('event'), each('policy')]);
  return {
    acknowledged,
    async stop() {
      isOver = true;
      await writing;
    },
  };
}

/** What the file holds for a process that opens it now; nothing when it cannot be read. */
function storedIn(file: string): Set<string> {
  let connection: SqliteConnection | undefined;
  try {
    connection = openSqliteConnection(file, 'reader');
    const { rows } = connection.execute(
      'SELECT "control_execution_id" FROM "all_events" UNION ALL SELECT "name" FROM "policies"',
    );
    return new Set(rows.map(([name]) => String(name)));
  } catch {
    return new Set();
  } finally {
    connection?.close();
  }
}

async function serving(url: string): Promise<Record<string, boolean>> {
  const client = createClient(Health, rpcTransport('gRPC', url));
  const { statuses } = await client.list({});
  return Object.fromEntries(
    Object.entries(statuses).map(([name, { status }]) => [
      name.replace('enforcement.v1.', ''),
      status === Status.SERVING,
    ]),
  );
}

/** A service with a loaded agent, which denies the word `bad`. */
async function start(file: string, environment: Record<string, string> = {}) {
  const service = await spawnService(compiled, {
    environment: { DATABASE_URL: `file:${file}`, SERVICE_LOG_JSON: 'true', ...environment },
  });
  const url = await service.listening();
  const call = restClient(url);
  const seed = seeder(call);
  await seed.linked(AGENT, 'denies');
  expect((await evaluate(call, AGENT, 'bad')).body.is_safe).toBe(false);
  return { service, url, call };
}

/** Waits until events and policies are acknowledged that were not before. */
async function untilStored({
  acknowledged,
}: Pick<ReturnType<typeof startWriting>, 'acknowledged'>): Promise<void> {
  const { length } = acknowledged;
  await until(
    () => acknowledged.slice(length).map(({ kind }) => kind),
    (kinds) => kinds.includes('event') && kinds.includes('policy'),
  );
}

/** Everything that tells of the state must say the same. */
async function expectTold(url: string, call: RestClient, state: string): Promise<void> {
  const isOk = state === 'OK';
  const ready = await until(
    () => call('GET', '/ready'),
    ({ body }) => body.storage === state,
  );
  expect(ready.status).toBe(isOk ? 200 : 503);
  if (!isOk)
    expect(ready.body).toMatchObject({ status: 'not_ready', reason: expect.stringMatching(/\. .+\.$/) });
  // Loaded agents are still evaluated.
  // On a busy machine, the storage may also be down for a moment.
  const health = await until(
    () => call('GET', '/health'),
    ({ body }) => body.storage === state,
  );
  expect(health).toMatchObject({
    status: 200,
    body: { status: 'healthy', storage: state, instance_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  });
  // The list is some seconds old, in which what is written meanwhile could fill a small disk again.
  if (!isOk)
    await until(
      () => problemsOf(call),
      ({ problems }) => problems.some(({ kind }) => kind === 'storage'),
    );
  const name = 'control_enforcement_server_storage';
  const samples = await until(
    async () => parseMetrics((await call('GET', '/metrics')).body),
    (found) => metric(found, `${name}_state`, { state }) === 1,
  );
  expect(metric(samples, `${name}_state`)).toBe(1);
  expect(metric(samples, `${name}_transitions_total`, { state })).toBeGreaterThan(0);
  expect(await serving(url)).toEqual({
    '': true,
    EvaluationService: true,
    ...Object.fromEntries(NEED_NONE.map((service) => [service, true])),
    ...Object.fromEntries(NEED_WRITES.map((service) => [service, isOk])),
  });
  expect((await evaluate(call, AGENT, 'bad')).body).toMatchObject({ is_safe: false, errors: [] });
  expect((await evaluate(call, AGENT, 'good')).body).toMatchObject({ is_safe: true, errors: [] });
}

/** The lines about the storage. */
function linesOf(service: ServiceProcess): { storage: string; msg: string }[] {
  return service
    .stdout()
    .split('\n')
    .filter((line) => line.includes('"storage":'))
    .map((line) => JSON.parse(line));
}

describe('a SQLite database that goes wrong while it is written', () => {
  it.each(Object.entries(FAULTS))(
    'is reported, and nothing is acknowledged that a restart would not find, when %s',
    async (_name, { cause, state, undo, losesNothing = false, saves }) => {
      // In memory, where a busy disk slows nothing down, but for what has to be on a disk.
      const isOnDisk = state === 'READONLY';
      const folder = await (isOnDisk ? mkdtemp(path.join(tmpdir(), PREFIX)) : quickFolder(PREFIX));
      const file = path.join(folder, 'service.db');
      const { service, url, call } = await start(file);
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      onTestFinished(() => service.dispose());
      onTestFinished(() => readOnly?.undo().catch(() => {}));
      const writing = startWriting(call);
      await until(
        () => writing.acknowledged.length,
        (count) => count > 20,
      );
      await cause(file);
      const causedAtMs = performance.now();
      await expectTold(url, call, state);
      expect(linesOf(service).filter((line) => line.storage === state)[0]?.msg).toMatch(/\. .+\.$/);
      if (state === 'REPLACED' || state === 'CORRUPT') {
        const refused = await call('PUT', '/api/v1/policies', { name: 'refused' });
        expect(refused).toMatchObject(problem(503, 'SERVICE_UNAVAILABLE'));
        expect(refused.body.detail).toMatch(/^The database is /);
      }
      if (undo !== undefined) {
        await undo(file);
        await expectTold(url, call, 'OK');
        await untilStored(writing);
      }
      await writing.stop();
      if (saves !== undefined) {
        await until(
          () => linesOf(service),
          (lines) => lines.some(({ msg }) => saves.test(String(msg))),
        );
      }
      service.process.kill('SIGKILL');
      await service.ended;
      const stored = storedIn(file);
      const safe = writing.acknowledged.filter(({ sentAtMs }) => losesNothing || sentAtMs > causedAtMs);
      expect(safe.filter(({ name }) => !stored.has(name))).toEqual([]);
      if (undo !== undefined) expect(safe.length).toBeGreaterThan(0);
    },
    CASE_LIMIT_MS,
  );

  it(
    'is reported when the disk is full, and continues when there is space again',
    async () => {
      const disk = await mountSmallDisk(4);
      if (disk === null) {
        console.log(
          'no file system can be mounted: only test/storage/database/failures.test.ts fills a database here',
        );
      }
      const folder = disk?.folder ?? (await quickFolder(PREFIX));
      const file = path.join(folder, 'service.db');
      const filler = path.join(folder, 'filler');
      const { service, url, call } = await start(file);
      try {
        const writing = startWriting(call);
        if (disk !== null) {
          await writeFile(filler, Buffer.alloc(8 * 1024 * 1024)).catch(() => {});
          await expectTold(url, call, 'NOSPACE');
          expect(linesOf(service).filter(({ storage }) => storage === 'NOSPACE')).toHaveLength(1);
          await unlink(filler);
          await expectTold(url, call, 'OK');
        }
        await untilStored(writing);
        await writing.stop();
        service.process.kill('SIGKILL');
        await service.ended;
        const stored = storedIn(file);
        expect(writing.acknowledged.filter(({ name }) => !stored.has(name))).toEqual([]);
      } finally {
        await service.dispose();
        if (disk === null) await rm(folder, { recursive: true, force: true });
        else await disk.remove();
      }
    },
    CASE_LIMIT_MS,
  );

  it(
    'is detected by every worker, and reported once by each',
    async () => {
      const folder = await quickFolder(PREFIX);
      const file = path.join(folder, 'service.db');
      const { service, call } = await start(file, { SERVICE_WORKERS: '2' });
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      onTestFinished(() => service.dispose());
      await rename(file, `${file}.moved`);
      const workers = async () =>
        new Set(
          linesOf(service)
            .filter(({ storage }) => storage === 'REPLACED')
            .map((line) => (line as unknown as { pid: number }).pid),
        );
      await until(workers, (pids) => pids.size === 2);
      expect(linesOf(service).filter(({ storage }) => storage === 'REPLACED')).toHaveLength(2);
      await rename(`${file}.moved`, file);
      await until(
        () => linesOf(service).filter(({ storage }) => storage === 'OK').length,
        (count) => count === 2,
      );
      expect((await call('PUT', '/api/v1/policies', { name: 'again' })).status).toBe(200);
    },
    CASE_LIMIT_MS,
  );
});
