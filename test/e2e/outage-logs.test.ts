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
    const beganMs = performance.now();
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
    // What lasts longer than a minute is told again, with the number of times.
    const told = warnings().filter(
      ({ msg, repeated }) =>
        !msg.startsWith('API keys are off') && !msg.startsWith('created') && repeated === undefined,
    );
    // Each kind is told once a minute, whatever works in the background: on a busy machine, more of it does.
    const kinds = told.map(({ msg, route, rpc }) => JSON.stringify([msg, route, rpc]));
    const minutes = Math.floor((performance.now() - beganMs) / 60_000);
    for (const kind of kinds)
      expect(kinds.filter((one) => one === kind).length, kind).toBeLessThan(2 + minutes);
    const routes = told
      .filter(({ msg }) => msg === 'a request could not be served')
      .map(({ route }) => route);
    expect([...new Set(routes)].sort()).toEqual([
      '/api/v1/controls/:control_id',
      '/api/v1/evaluation',
      '/api/v1/observability/events',
      '/api/v1/policies',
    ]);
    const rpcs = told.filter(({ msg }) => msg === 'an RPC could not be served').map(({ rpc }) => rpc);
    expect([...new Set(rpcs)]).toEqual(['enforcement.v1.PolicyService/CreatePolicy']);
    for (const message of [
      'events of the service itself cannot be stored now',
      'a database connection broke',
    ]) {
      expect(told.map(({ msg }) => msg)).toContain(message);
    }
    expect(told.filter(({ storage }) => storage === 'DOWN')).toHaveLength(1);
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
