import { createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  ControlsSource,
  ServerService,
  StorageState,
} from '../../gen/proto/enforcement/v1/server_service_pb.js';
import { type PostgresServer, startPostgresServer } from '../../scripts/postgres-server.mjs';
import { fingerprintOf } from '../../src/serve/auth/known-key.js';
import { problemsOf } from '../observe/problems/problems.support.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { evaluate, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { testService } from '../support/service-suite.js';
import { until } from '../support/until.js';

const ADMIN_KEY = 'admin-key';
const READER_KEY = 'reader-key';
const JSON_PROTOCOL = 'Connect with JSON';
const AGENT = 'state-bot-01';

const transport = (
  protocol: (typeof RPC_PROTOCOLS)[number] | typeof JSON_PROTOCOL,
  url: string,
): Transport =>
  protocol === JSON_PROTOCOL
    ? createConnectTransport({ baseUrl: url, httpVersion: '1.1', useBinaryFormat: false })
    : rpcTransport(protocol, url);

describeOnEachDatabase('GetServerInfo', (freshDatabaseUrl) => {
  it('returns the level of the caller and the state of the server over every RPC protocol, and not over REST', async () => {
    const service = await testService({
      DATABASE_URL: await freshDatabaseUrl(),
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_API_KEYS: READER_KEY,
      SERVICE_ADMIN_API_KEYS: ADMIN_KEY,
    });
    for (const protocol of [...RPC_PROTOCOLS, JSON_PROTOCOL] as const) {
      const server = createClient(ServerService, transport(protocol, service.url));
      for (const key of [ADMIN_KEY, READER_KEY]) {
        const info = await server.getServerInfo({}, { headers: { 'x-api-key': key } });
        expect([protocol, info.isAdmin]).toEqual([protocol, key === ADMIN_KEY]);
        expect([protocol, info.callerFingerprint]).toEqual([protocol, fingerprintOf(key)]);
        expect(info.state).toMatchObject({
          controlsFrom: ControlsSource.DATABASE,
          databaseUp: true,
          storageState: StorageState.OK,
          eventsEnabled: true,
          waitingEvents: 0n,
          lostEvents: 0n,
        });
        expect(info.state?.stalenessSeconds).toBeGreaterThanOrEqual(0);
        expect(info.state?.storageProblem).toBeUndefined();
        expect(info.state?.cannotEvaluateBecause).toBeUndefined();
      }
    }
    const reply = await restClient(service.url, { 'x-api-key': ADMIN_KEY })('GET', '/api/v1/server-info');
    expect(Object.keys(reply.body)).toEqual([
      'version',
      'revision',
      'features',
      'max_message_bytes',
      'max_batch',
      'stream_window',
    ]);
  });

  it('counts the events that are not stored yet, and names a service without an event store', async () => {
    const service = await startService({ DATABASE_URL: await freshDatabaseUrl() });
    const without = await testService({
      DATABASE_URL: await freshDatabaseUrl(),
      SERVICE_OBSERVABILITY_ENABLED: 'false',
    });
    onTestFinished(() => service.stop());
    const call = restClient(service.url);
    const seed = seeder(call);
    await seed.linked(AGENT, 'state');
    for (let count = 0; count < 3; count += 1) await evaluate(call, AGENT, 'bad');
    expect((await infoOf(service)).state).toMatchObject({ eventsEnabled: true, waitingEvents: 3n });
    await call('POST', '/api/v1/observability/flush');
    expect((await infoOf(service)).state).toMatchObject({ waitingEvents: 0n, lostEvents: 0n });
    expect((await infoOf(without)).state).toMatchObject({
      eventsEnabled: false,
      databaseUp: true,
      recordedResults: 'none',
    });
    expect(await problemsOf(restClient(without.url))).toMatchObject({
      working: true,
      problems: [{ kind: 'events_off', severity: 'notice' }],
    });
  });
});

describe('GetServerInfo while PostgreSQL is gone', () => {
  it('returns that the database does not answer and how old the controls are', async () => {
    const postgres: PostgresServer = await startPostgresServer();
    const service = await startService({ DATABASE_URL: postgres.url, SERVICE_LAST_KNOWN_GOOD: 'off' });
    onTestFinished(() => postgres.stop());
    onTestFinished(() => service.stop());
    const call = restClient(service.url);
    const seed = seeder(call);
    await seed.linked(AGENT, 'state');
    expect((await evaluate(call, AGENT, 'bad')).body.is_safe).toBe(false);
    await postgres.pause();
    const { state } = await until(
      () => infoOf(service),
      ({ state: now }) =>
        now?.databaseUp === false &&
        now.storageState === StorageState.DOWN &&
        (now.stalenessSeconds ?? 0) > 1,
    );
    expect(state).toMatchObject({
      controlsFrom: ControlsSource.DATABASE,
      storageState: StorageState.DOWN,
      storageProblem: expect.stringContaining('cannot be reached'),
    });
    // The loaded agent is still evaluated.
    expect(state?.cannotEvaluateBecause).toBeUndefined();
    // Its problems are told all the same, without what only the database knows.
    const told = await until(
      () => problemsOf(call),
      ({ problems }) => problems[0]?.kind === 'database_down',
    );
    expect(told).toMatchObject({
      working: false,
      problems: [{ severity: 'critical', count: 0, subjects: [] }],
    });
    await postgres.resume();
    // Each is found out by a look of its own: the storage by a write, the database by the next poll.
    await until(
      () => infoOf(service),
      ({ state: now }) => now?.storageState === StorageState.OK && now.databaseUp,
    );
    await until(
      () => problemsOf(call),
      ({ working }) => working,
    );
  });
});

function infoOf(service: TestService) {
  return createClient(ServerService, rpcTransport('gRPC', service.url)).getServerInfo({});
}
