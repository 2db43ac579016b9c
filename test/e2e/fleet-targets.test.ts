import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeAboveStores } from '../support/databases.js';
import { type RestClient, restClient, untilServed } from '../support/http.js';
import { denyWord, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';

const AGENT = 'fleet-agent-01';
const TARGET = { target_type: 'project', target_id: 'shared' };
const BY_KEY = '/api/v1/control-bindings/by-key';

describeAboveStores('two replicas and a target', (freshDatabaseUrl) => {
  let services: TestService[];
  let write: RestClient;
  let read: RestClient;
  let control: number;
  beforeAll(async () => {
    const environment = { DATABASE_URL: await freshDatabaseUrl() };
    services = [await startService(environment), await startService(environment)];
    [write, read] = services.map(({ url }) => restClient(url)) as [RestClient, RestClient];
    const seed = seeder(write);
    await seed.agent(AGENT);
    control = await seed.control('bound', denyWord('bad'));
  });
  afterAll(async () => {
    for (const service of services) await service.stop();
  });

  /** Whether the other replica denies a step, by the controls of a revision or later. */
  async function denies(revision: number, target: object = TARGET): Promise<boolean> {
    const step = { type: 'llm', name: 'answer', input: 'bad' };
    const body = { agent_name: AGENT, stage: 'pre', step, ...target };
    const headers = { 'x-service-min-revision': String(revision) };
    const reply = await untilServed(() => read('POST', '/api/v1/evaluation', body, headers));
    expect(reply.status).toBe(200);
    return !reply.body.is_safe;
  }
  /** Makes a change at one replica and returns its revision. */
  async function changed(...request: Parameters<RestClient>): Promise<number> {
    const reply = await write(...request);
    expect(reply.status).toBe(200);
    return Number(reply.headers.get('x-service-revision'));
  }

  it('agree on every change of its bindings at the next evaluation that requires the revision', async () => {
    const key = { ...TARGET, control_id: control };
    expect(await denies(0)).toBe(false);
    expect(await denies(await changed('PUT', BY_KEY, key))).toBe(true);
    expect(await denies(0, { ...TARGET, target_id: 'other' })).toBe(false);
    expect(await denies(await changed('PATCH', BY_KEY, { ...key, enabled: false }))).toBe(false);
    expect(await denies(await changed('PATCH', BY_KEY, { ...key, enabled: true }))).toBe(true);
    const path = `/api/v1/controls/${control}`;
    expect(await denies(await changed('PATCH', path, { enabled: false }))).toBe(false);
    expect(await denies(await changed('PATCH', path, { enabled: true }))).toBe(true);
    expect(await denies(await changed('POST', `${BY_KEY}:delete`, key))).toBe(false);
    const clone = { target_binding: TARGET };
    expect(await denies(await changed('POST', `${path}/clone-and-bind`, clone))).toBe(true);
  });
});
