import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeOnPostgresql } from '../support/databases.js';
import { exchange, type HttpAnswer, restClient } from '../support/http.js';
import { denyWord, seeder } from '../support/seed.js';
import type { TestService } from '../support/service.js';
import { PROBLEM } from './replies.js';
import { type CallInput, pathOf, ROUTE_NAMES, ROUTES, type RouteName } from './routes.js';
import type { World } from './unhappy-case.js';
import { UNHAPPY_CASES } from './unhappy-cases.js';
import { ADMIN_KEY, READER_KEY, startDeployed, WORDS_TEMPLATE } from './world.js';

/** What refuses nothing that a client can send, but a missing key. */
const HARMLESS = new Set<RouteName>([
  'health',
  'config',
  'logout',
  'controlSchema',
  'listEvaluators',
  'observabilityStatus',
]);
const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  422: 'UnprocessableEntity',
};

describeOnPostgresql('a refused call', (freshDatabaseUrl) => {
  let service: TestService;
  let world: World;
  beforeAll(async () => {
    service = await startDeployed(await freshDatabaseUrl());
    world = await fill(service.url);
  });
  afterAll(() => service.stop());

  const send = (route: RouteName, input: CallInput, key: string | null): Promise<HttpAnswer> => {
    const defaults = { agent: world.agent, control: world.control, policy: world.policy, evaluator: 'tone' };
    return exchange(service.url, {
      method: ROUTES[route][0],
      path: pathOf(route, input, defaults),
      headers: { 'content-type': 'application/json', ...(key === null ? {} : { 'x-api-key': key }) },
      ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
    });
  };

  const expectProblem = (answer: HttpAnswer, status: number, error: string): void => {
    expect([answer.status, answer.json?.error_code, answer.json?.status]).toEqual([status, error, status]);
    expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
    const problem = PROBLEM.parse(answer.json);
    expect(problem.type.endsWith(`:${error.toLowerCase().replaceAll('_', '-')}`)).toBe(true);
    expect(problem.reason).toBe(REASONS[status]);
  };

  it.each(UNHAPPY_CASES.map((one) => [one.route, one.what, one] as const))(
    '%s with %s',
    async (_route, _what, one) => {
      const input = typeof one.input === 'function' ? one.input(world) : one.input;
      const answer = await send(one.route, input, ADMIN_KEY);
      expectProblem(answer, one.status, one.error);
      const items = (
        answer.json.errors as { resource: string; field?: string; code: string }[] | undefined
      )?.map(({ resource, field = '-', code }) => `${resource} ${field} ${code}`);
      expect(items).toEqual(one.items);
      const { kind, name } = (answer.json.details ?? {}) as { kind?: string; name?: string };
      if (one.details !== undefined) expect({ kind, name }).toMatchObject(one.details);
      else if (one.status === 422 && one.error === 'VALIDATION_ERROR') {
        expect(answer.json).not.toHaveProperty('details');
      }
    },
  );

  it.each(ROUTE_NAMES.filter((route) => ROUTES[route][2] !== 'public'))(
    '%s without a known key',
    async (route) => {
      for (const [key, error] of [
        [null, 'AUTH_MISSING_KEY'],
        ['', 'AUTH_MISSING_KEY'],
        ['unknown', 'AUTH_INVALID_KEY'],
        [` ${ADMIN_KEY}x`, 'AUTH_INVALID_KEY'],
      ] as const) {
        const answer = await send(route, {}, key);
        expectProblem(answer, 401, error);
        expect(answer.headers['www-authenticate']).toBe('ApiKey');
      }
    },
  );

  it.each(ROUTE_NAMES.filter((route) => ROUTES[route][2] === 'admin'))(
    '%s with a regular key',
    async (route) => {
      expectProblem(await send(route, {}, READER_KEY), 403, 'AUTH_INSUFFICIENT_PRIVILEGES');
    },
  );

  it.each([...HARMLESS])('%s by another method', async (route) => {
    const answer = await exchange(service.url, { method: 'OPTIONS', path: pathOf(route) });
    expect([answer.status, answer.json?.error_code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(answer.headers.allow?.split(', ')).toContain(ROUTES[route][0]);
  });

  it('changes nothing', async () => {
    const call = restClient(service.url, { 'x-api-key': ADMIN_KEY });
    const names = (await call('GET', '/api/v1/controls')).body.controls.map(
      ({ name }: { name: string }) => name,
    );
    expect(names.sort()).toEqual(['draft', 'foreign', 'from-template', 'linked', 'tonal']);
    expect((await call('GET', '/api/v1/agents')).body.agents).toHaveLength(2);
    expect((await call('GET', `/api/v1/agents/${world.agent}/policies`)).body.policy_ids).toEqual([]);
    expect((await call('GET', `/api/v1/agents/${world.agent}`)).body.evaluators).toHaveLength(1);
  });

  it('is tried on every route that can refuse', () => {
    const tried = new Set(UNHAPPY_CASES.map(({ route }) => route));
    expect(ROUTE_NAMES.filter((route) => !tried.has(route) && !HARMLESS.has(route))).toEqual([]);
  });
});

describe('the cases of refused calls', () => {
  it('have names that distinguish them', () => {
    const names = UNHAPPY_CASES.map(({ route, what }) => `${route} with ${what}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

async function fill(url: string): Promise<World> {
  const call = restClient(url, { 'x-api-key': ADMIN_KEY });
  const seed = seeder(call);
  const agent = 'unhappy-agent-01';
  const schema = { type: 'object', properties: { level: { type: 'integer' } } };
  const toneOf = (name: string) => ({
    execution: 'sdk',
    condition: { selector: {}, evaluator: { name: `${name}:tone`, config: { level: 1 } } },
    action: { decision: 'observe' },
  });
  for (const name of [agent, 'unhappy-other-01']) {
    await seed.agent(name, {
      steps: [{ type: 'tool', name: 'refund' }],
      evaluators: [{ name: 'tone', config_schema: schema }],
    });
  }
  const control = await seed.control('linked', denyWord('bad'));
  await seed.link(agent, control);
  await seed.link(agent, await seed.control('tonal', toneOf(agent)));
  const fromTemplate = await seed.control('from-template', {
    template: WORDS_TEMPLATE,
    template_values: { words: ['alpha'] },
  });
  const draft = await seed.control('draft', { template: WORDS_TEMPLATE });
  const foreignControl = await seed.control('foreign', toneOf('unhappy-other-01'));
  const policy = (await call('PUT', '/api/v1/policies', { name: 'unhappy' })).body.policy_id as number;
  await call('POST', `/api/v1/policies/${policy}/controls/${control}`);
  const foreignPolicy = (await call('PUT', '/api/v1/policies', { name: 'foreign' })).body.policy_id as number;
  await call('POST', `/api/v1/policies/${foreignPolicy}/controls/${foreignControl}`);
  return { agent, control, policy, fromTemplate, draft, foreignPolicy, foreignControl };
}
