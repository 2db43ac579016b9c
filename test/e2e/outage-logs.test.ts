import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/databases.js';
import { type RestClient, restClient } from '../support/http.js';
import { methodNamed, PROTOCOLS, type ProtocolClient } from '../support/protocol-clients.js';
import { evaluate, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { event } from './events.support.js';

const AGENT = 'loaded-agent-1';
const CALLS = 60;
const WARN = 40;

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly [member: string]: unknown;
}

describe('the log during an outage', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let service: TestService;
  let call: RestClient;
  const clients: ProtocolClient[] = [];
  beforeAll(async () => {
    database = await createTestDatabase('postgresql');
    proxy = await startTcpProxy(database.url);
    service = await startService({
      DATABASE_URL: proxy.url,
      OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.05',
    });
    call = restClient(service.url);
    const seed = seeder(call);
    await seed.linked(AGENT, 'denies');
    expect((await evaluate(call, AGENT, 'bad')).body.is_safe).toBe(false);
    clients.push(PROTOCOLS['gRPC (grpc-js)'](service.url), PROTOCOLS['Connect over h2'](service.url));
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await proxy.set('clear');
    await service.stop();
    await proxy.close();
    await database.drop();
  });

  const lines = (): Line[] => service.logLines.map((line) => JSON.parse(line));
  const warnings = () => lines().filter(({ level }) => level >= WARN);

  it('has one line for each kind of failure, with route or RPC and reason, and stacks at level debug', async () => {
    await proxy.set('refuse');
    proxy.cut();
    await until(
      () => call('GET', '/health'),
      ({ body }) => body.database === 'down',
    );
    for (let count = 0; count < CALLS; count += 1) {
      expect((await call('PUT', '/api/v1/policies', { name: `policy-${count}` })).status).toBe(503);
      expect((await call('GET', `/api/v1/controls/${count + 1}`)).status).toBe(503);
      expect((await evaluate(call, `not-loaded-agent-${count}`, 'bad')).status).toBe(503);
      await call('POST', '/api/v1/observability/events', {
        events: [event({ control_execution_id: `${count}` })],
      });
      for (const client of clients) {
        await client.call(methodNamed('PolicyService.CreatePolicy'), { name: `policy-${count}` });
      }
      // Its match is an event of the service itself.
      expect((await evaluate(call, AGENT, 'bad')).status).toBe(200);
    }
    await until(warnings, (all) => all.some(({ msg }) => msg.startsWith('events of the service itself')));
    const told = warnings().filter(
      ({ msg }) => !msg.startsWith('API keys are off') && !msg.startsWith('created'),
    );
    const routes = told
      .filter(({ msg }) => msg === 'a request could not be served')
      .map(({ route }) => route);
    expect(routes.sort()).toEqual([
      '/api/v1/controls/:control_id',
      '/api/v1/evaluation',
      '/api/v1/observability/events',
      '/api/v1/policies',
    ]);
    expect(told.filter(({ msg }) => msg === 'an RPC could not be served')).toEqual([
      expect.objectContaining({ rpc: 'enforcement.v1.PolicyService/CreatePolicy' }),
    ]);
    for (const message of [
      'events of the service itself cannot be stored now',
      'a database connection broke',
    ]) {
      expect(told.filter(({ msg }) => msg === message)).toHaveLength(1);
    }
    expect(told.filter(({ storage }) => storage === 'DOWN')).toHaveLength(1);
    // Counts are stored, and replicas report, in turns of their own: these may not have come yet.
    const counted = told.filter(({ msg }) => msg === 'counts of evaluations cannot be stored now');
    expect(counted.length).toBeLessThan(2);
    expect(told.length, JSON.stringify(told.map(({ msg }) => msg))).toBeLessThan(17);
    for (const line of told) {
      expect(line.reason).toEqual(expect.stringMatching(/./));
      expect(JSON.stringify(line)).not.toMatch(/\n|node_modules| {4}at /);
    }
    // The place in the code is logged for each of them.
    const detailed = lines().filter(
      ({ level, msg }) => level < WARN && msg === 'a request could not be served',
    );
    expect(detailed.length).toBeGreaterThanOrEqual(3 * CALLS);
    expect(JSON.stringify(detailed[0])).toMatch(/"stack":/);
  });
});
