import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeOnSqlite } from '../support/databases.js';
import { type RestClient, restClient } from '../support/http.js';
import { problem } from '../support/refusals.js';
import { denyWord, seeder } from '../support/seed.js';
import type { TestService } from '../support/service.js';
import { type FlakyGateway, type Mishap, startFlakyGateway } from './flaky-gateway.js';
import { HttpStatusError, pythonClient } from './python-client.js';
import { ADMIN_KEY, READER_KEY, startDeployed, WORDS_TEMPLATE } from './world.js';

const STEPS = [
  { type: 'llm', name: 'answer' },
  { type: 'tool', name: 'refund', description: 'pays back', input_schema: { type: 'object' } },
];

describeOnSqlite('the Python client', (freshDatabaseUrl) => {
  let service: TestService;
  let gateway: FlakyGateway;
  let admin: RestClient;
  let seed: ReturnType<typeof seeder>;
  let count = 0;
  beforeAll(async () => {
    service = await startDeployed(await freshDatabaseUrl());
    gateway = await startFlakyGateway(service.url);
    admin = restClient(service.url, { 'x-api-key': ADMIN_KEY });
    seed = seeder(admin);
  });
  afterAll(async () => {
    await gateway.stop();
    await service.stop();
  });

  const freshClient = (more: { agent?: string; apiKey?: string } = {}) => {
    count += 1;
    const agent = `python-agent-${count}`;
    const pauses: number[] = [];
    const pause = async (attempt: number) => void pauses.push(attempt);
    const client = pythonClient({
      url: `${gateway.url}/`,
      apiKey: READER_KEY,
      agent,
      steps: STEPS,
      pause,
      ...more,
    });
    return { ...client, agent, pauses };
  };
  /** A started client whose agent has these controls. */
  const clientWith = async (...definitions: object[]) => {
    const client = freshClient();
    await client.start();
    for (const [index, definition] of definitions.entries()) {
      await seed.link(client.agent, await seed.control(`${client.agent}-${index}`, definition));
    }
    await client.refresh();
    return client;
  };
  const llm = (input: unknown) => ({ type: 'llm', name: 'answer', input });
  const eventsOf = async (agent: string) =>
    (await admin('POST', '/api/v1/observability/events/query', { agent_name: agent, limit: 1000 })).body;

  it('registers at each start with a regular key; each start after the first is a change', async () => {
    const client = freshClient();
    expect(await client.start()).toEqual({ created: true, version: expect.stringMatching(/^7\./) });
    await seed.link(client.agent, await seed.control(`${client.agent}-at-start`));
    expect(await client.start()).toMatchObject({ created: false });
    // What the registration returned is the first cached list.
    expect(await client.check('pre', llm('a bad word'))).toMatchObject({ kind: 'denied' });
    const { body } = await client.call('POST', '/api/v1/agents/initAgent', {
      agent: { agent_name: client.agent, agent_created_at: 'later' },
      steps: STEPS,
      conflict_mode: 'overwrite',
    });
    expect(body).toMatchObject({
      created: false,
      overwrite_applied: true,
      overwrite_changes: { metadata_changed: true, steps_added: [], steps_updated: [], steps_removed: [] },
    });
  });

  it('raises the status of a refused registration', async () => {
    const refused = await freshClient({ agent: 'short' })
      .start()
      .catch((error) => error);
    expect(refused).toBeInstanceOf(HttpStatusError);
    expect(refused.reply).toMatchObject(problem(422, 'VALIDATION_ERROR'));
    const unknown = await freshClient({ apiKey: 'unknown' })
      .start()
      .catch((error) => error);
    expect(unknown.reply).toMatchObject(problem(401, 'AUTH_INVALID_KEY'));
  });

  it('caches rendered and enabled controls only, and calls the service only when one applies', async () => {
    const client = freshClient();
    await client.start();
    const link = async (name: string, data: object) => {
      const id = await seed.control(`${client.agent}-${name}`, data);
      await seed.link(client.agent, id);
      return id;
    };
    const shown = await link('shown', denyWord('bad', { scope: { step_types: ['tool'] } }));
    const local = await link('local', denyWord('bad', { execution: 'sdk' }));
    await link('disabled', denyWord('bad', { enabled: false }));
    await link('draft', { template: WORDS_TEMPLATE });
    expect(await client.refresh()).toEqual([local, shown]);
    expect(await client.check('pre', llm('bad'))).toEqual({ kind: 'passed', asked: false });
    const tool = { type: 'tool', name: 'refund', input: { amount: 5 } };
    expect(await client.check('pre', tool)).toEqual({ kind: 'passed', asked: true });
    expect(await client.check('pre', { ...tool, input: { note: 'bad' } })).toMatchObject({ kind: 'denied' });
  });

  it('raises a violation for a deny, even when a steer matches as well', async () => {
    const steer = { action: { decision: 'steer', steering_context: { message: 'say it kindly' } } };
    const client = await clientWith(
      denyWord('worst'),
      denyWord('bad|worst', steer),
      denyWord('.', { action: { decision: 'observe' } }),
    );
    expect(await client.check('pre', llm('good'))).toEqual({ kind: 'passed', asked: true });
    expect(await client.check('pre', llm('bad'))).toEqual({ kind: 'steered', message: 'say it kindly' });
    const denied = await client.check('pre', llm('the worst'));
    expect(denied).toMatchObject({ kind: 'denied', message: expect.stringContaining('worst') });
  });

  it('steers by the message of the evaluator when the control has none', async () => {
    const client = await clientWith(denyWord('bad', { action: { decision: 'steer' } }));
    const steered = await client.check('post', { ...llm('bad'), output: 'x' });
    expect(steered).toMatchObject({ kind: 'steered', message: expect.stringContaining('bad') });
  });

  it('blocks a step on an error of any control, and on any status but success', async () => {
    const broken = {
      execution: 'server',
      condition: { selector: { path: 'input' }, evaluator: { name: 'not-installed', config: {} } },
      action: { decision: 'observe' },
    };
    const client = await clientWith(broken);
    expect(await client.check('pre', llm('x'))).toMatchObject({ kind: 'blocked', why: expect.any(String) });
    gateway.plan({ answer: 503 });
    expect(await client.check('pre', llm('x'))).toEqual({ kind: 'blocked', why: 'status 503' });
  });

  it('sends events in batches of 100 under the ids of the verdict, and each is stored once', async () => {
    const client = await clientWith(denyWord('bad'), denyWord('never', { action: { decision: 'observe' } }));
    // Two events each: a match or a non-match of either control.
    for (let index = 0; index < 60; index += 1)
      await client.check('pre', llm(index % 2 === 0 ? 'bad' : 'good'));
    expect(await client.flush()).toBe(0);
    const { events, total } = await eventsOf(client.agent);
    expect(total).toBe(120);
    expect(events.filter(({ matched }: { matched: boolean }) => matched)).toHaveLength(30);
    expect(
      new Set(events.map((event: { control_execution_id: string }) => event.control_execution_id)).size,
    ).toBe(120);
    const stats = await admin('GET', `/api/v1/observability/stats?agent_name=${client.agent}&time_range=1h`);
    expect(stats.body.totals).toMatchObject({
      execution_count: 120,
      match_count: 30,
      non_match_count: 90,
      error_count: 0,
      action_counts: { deny: 30 },
    });
  });

  it.each<[string, Mishap[], number]>([
    ['the service is unavailable', [{ answer: 503 }], 1],
    ['the connection breaks', ['lost request', 'lost request'], 2],
    ['another success than 202 is answered', [{ answer: 200 }], 1],
    ['the answer is lost after the events were stored', ['lost answer', 'lost answer'], 2],
  ])('tries again when %s, and each event is stored once', async (_what, mishaps, retries) => {
    const client = await clientWith(denyWord('bad'));
    await client.check('pre', llm('bad'));
    gateway.plan(...mishaps);
    expect(await client.flush()).toBe(0);
    expect(client.pauses).toEqual(Array.from({ length: retries }, (_none, index) => index + 1));
    const { events, total } = await eventsOf(client.agent);
    expect(total).toBe(1);
    expect(events).toMatchObject([
      { agent_name: client.agent, applies_to: 'llm_call', action: 'deny', matched: true, confidence: 1 },
    ]);
  });

  it('keeps events that three attempts could not bring in, and sends them later', async () => {
    const client = await clientWith(denyWord('bad'));
    await client.check('pre', llm('good'));
    gateway.plan({ answer: 500 }, { answer: 502 }, { answer: 504 });
    expect(await client.flush()).toBe(1);
    expect((await eventsOf(client.agent)).total).toBe(0);
    expect(await client.flush()).toBe(0);
    expect((await eventsOf(client.agent)).total).toBe(1);
  });

  it('does not try again when its key is refused', async () => {
    const client = await clientWith(denyWord('bad'));
    await client.check('pre', llm('good'));
    gateway.plan({ answer: 401 });
    expect(await client.flush()).toBe(1);
    expect(client.pauses).toEqual([]);
  });

  it('manages policies and links with an admin key', async () => {
    const { call, agent, start } = freshClient({ apiKey: ADMIN_KEY });
    await start();
    const control = await seed.control(`${agent}-managed`);
    const policy = (await call('PUT', '/api/v1/policies', { name: agent })).body.policy_id;
    const root = `/api/v1/agents/${agent}`;
    const replies = [
      ['POST', `/api/v1/policies/${policy}/controls/${control}`, { success: true }],
      ['GET', `/api/v1/policies/${policy}/controls`, { control_ids: [control] }],
      ['POST', `${root}/policy/${policy}`, { success: true, old_policy_id: null }],
      ['GET', `${root}/policy`, { policy_id: policy }],
      ['GET', `${root}/policies`, { policy_ids: [policy] }],
      ['POST', `${root}/controls/${control}`, { success: true }],
      ['DELETE', `${root}/policies/${policy}`, { success: true }],
      ['POST', `${root}/policies/${policy}`, { success: true }],
      ['DELETE', `${root}/policy`, { success: true }],
      ['DELETE', `/api/v1/policies/${policy}/controls/${control}`, { success: true }],
      [
        'DELETE',
        `${root}/controls/${control}`,
        { success: true, removed_direct_association: true, control_still_active: false },
      ],
    ] as const;
    for (const [method, path, body] of replies) {
      const reply = await call(method, path);
      expect([method, path, reply.status, reply.body]).toEqual([method, path, 200, body]);
    }
    const listed = await call('GET', `/api/v1/agents?name=${agent.toUpperCase()}`);
    expect(listed.body.agents.map(({ agent_name: name }: { agent_name: string }) => name)).toEqual([agent]);
  });
});
