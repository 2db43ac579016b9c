import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeAboveStores } from '../support/databases.js';
import { type RestReply, restClient } from '../support/http.js';
import { createKeysFile } from '../support/keys-file.js';
import { denyWord, seeder } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';
import { PROBLEM } from './replies.js';
import { BINDING_CASES } from './tenancy/binding-cases.js';
import { CONTROL_CASES } from './tenancy/control-cases.js';
import { RUNTIME_CASES } from './tenancy/runtime-cases.js';
import {
  AGENT,
  BY_KEY,
  type Caller,
  EXCHANGE,
  PAIR,
  type Send,
  type TenancyCase,
  type TenancyWorld,
} from './tenancy/tenancy-case.js';

/** Headers that a vendor gives its clients. */
const KEY_HEADER = 'vendor-api-key';
const TOKEN_HEADER = 'x-service-runtime-token';
const VERSION_HEADER = 'x-vendor-server-version';
const KEYS = { admin: 'admin-key-of-8x', reader: 'reader-key-of-8x', agent: 'agent-key-of-8x' };
const REASONS = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  422: 'UnprocessableEntity',
} as Readonly<Record<number, string>>;

const CASES: Readonly<Record<string, readonly TenancyCase[]>> = {
  'control-bindings': BINDING_CASES,
  controls: CONTROL_CASES,
  'auth, evaluation and agents': RUNTIME_CASES,
};

describeAboveStores('clients of 8.x', (freshDatabaseUrl) => {
  const keys = createKeysFile([
    { name: 'admin', key: KEYS.admin, role: 'admin' },
    { name: 'reader', key: KEYS.reader, role: 'regular' },
    { name: 'agent', key: KEYS.agent, role: 'agent' },
  ]);
  afterAll(() => keys.remove());
  // As a vendor sets up its clients: own names of headers, and evaluations with runtime tokens alone.
  const service = suiteService(async () => ({
    ...keys.environment,
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_API_KEY_HEADERS: KEY_HEADER,
    SERVICE_RUNTIME_TOKEN_HEADER: TOKEN_HEADER,
    SERVICE_RUNTIME_TOKEN_SECRETS: 'a-secret-of-at-least-32-bytes-000',
    SERVICE_VERSION_HEADERS: VERSION_HEADER,
  }));
  let token = '';
  let world: TenancyWorld;

  const headersOf = (caller: Caller): Record<string, string> => {
    if (caller === 'nobody') return {};
    return caller === 'token' ? { [TOKEN_HEADER]: token } : { [KEY_HEADER]: KEYS[caller] };
  };
  const send: Send = (caller, method, path, body) =>
    restClient(service.url, headersOf(caller))(method, path, body);

  beforeAll(async () => {
    world = await fill(send, seeder(restClient(service.url, headersOf('admin'))));
    token = (await world.served('reader', 'POST', EXCHANGE, PAIR)).token;
  });

  describe.each(Object.entries(CASES))('%s', (_section, cases) => {
    it.each(cases.map((one) => [one.title, one] as const))('%s', async (_title, one) => {
      const call = typeof one.call === 'function' ? await one.call(world) : one.call;
      const reply = await send(one.by ?? 'admin', ...call);
      expect([reply.status, reply.body.error_code]).toEqual([one.status, one.code]);
      expect(reply.headers.get(VERSION_HEADER)).toMatch(/^\d+\.\d+\.\d+$/);
      expect(reply.headers.get('x-service-warning')).toBeNull();
      for (const [name, value] of Object.entries(one.headers ?? {})) {
        expect(reply.headers.get(name), name).toBe(value);
      }
      if (one.code !== undefined) expectProblem(reply, call[1], one);
      else {
        one.reply?.parse(reply.body);
        expect(reply.body).toMatchObject(readable(one.equal?.(world, call) ?? {}));
      }
    });
  });

  it('have names that distinguish the cases', () => {
    const titles = Object.values(CASES).flatMap((cases) => cases.map(({ title }) => title));
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
  });
});

/** The error body of the page. */
function expectProblem(
  { headers, body }: RestReply,
  path: string,
  { status, code = '', items }: TenancyCase,
) {
  expect(headers.get('content-type')).toMatch(/^application\/(problem\+)?json\b/);
  const problem = PROBLEM.parse(body);
  expect(problem.type).toMatch(new RegExp(`^urn:.+:error:${code.toLowerCase().replaceAll('_', '-')}$`));
  expect(problem).toMatchObject({ status, instance: path.split('?')[0], reason: REASONS[status] });
  expect(problem.detail.length).toBeLessThanOrEqual(500);
  expect(Number.isNaN(Date.parse(problem.metadata.timestamp))).toBe(false);
  expect(problem.errors?.map(({ field = '-', code: of }) => `${field} ${of}`)).toEqual(items);
}

/** A part of a reply with patterns, and lists of which only the length counts. */
function readable(value: unknown): object {
  if (value instanceof RegExp) return expect.stringMatching(value);
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value as unknown as object;
  const { length } = value as { length?: unknown };
  if (length !== undefined) return expect.toSatisfy((all) => Array.isArray(all) && all.length === length);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, readable(part)]));
}

async function fill(send: Send, seed: ReturnType<typeof seeder>): Promise<TenancyWorld> {
  const served: TenancyWorld['served'] = async (...request) => {
    const { status, body } = await send(...request);
    if (status !== 200) throw new Error(`${request.join(' ')}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  await seed.agent(AGENT, { evaluators: [{ name: 'tone', config_schema: {} }] });
  const control = (name: string) => seed.control(name, denyWord(name));
  const linked = await control('linked');
  const bound = await control('bound');
  const byPolicy = await control('by-policy');
  const twice = await control('twice');
  const disabled = await control('disabled');
  await seed.link(AGENT, linked);
  await seed.link(AGENT, twice);
  const { policy_id } = await served('admin', 'PUT', '/api/v1/policies', { name: 'of-8x' });
  await served('admin', 'POST', `/api/v1/policies/${policy_id}/controls/${byPolicy}`);
  await served('admin', 'POST', `/api/v1/agents/${AGENT}/policies/${policy_id}`);
  const bind = (control_id: number, enabled = true) =>
    served('admin', 'PUT', BY_KEY, { ...PAIR, control_id, enabled });
  const { binding_id: binding } = await bind(bound);
  await bind(twice);
  await bind(disabled, false);
  let made = 0;
  const next = () => {
    made += 1;
    return made;
  };
  return {
    agent: AGENT,
    linked,
    bound,
    binding,
    free: await control('free'),
    agentScoped: await seed.control('of-one-agent', {
      ...denyWord('x'),
      condition: { selector: { path: 'input' }, evaluator: { name: `${AGENT}:tone`, config: {} } },
    }),
    served,
    target: () => ({ target_type: 'env', target_id: `target-${next()}` }),
    name: () => `made-${next()}`,
  };
}
