import { beforeAll, describe, expect, it } from 'vitest';
import { describeOnPostgresql } from '../support/databases.js';
import type { RestClient, RestReply } from '../support/http.js';
import { metric, parseMetrics } from '../support/prometheus.js';
import { denyWord, seeder } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';
import { damageControl } from '../support/sql.js';
import { until } from '../support/until.js';
import { eventRoutes } from './events.support.js';

const EXPLAIN = '/api/v1/evaluation/explain';
const AGENT = 'explained-bot-1';
const ADMIN = 'admin-key';
const READER = 'reader-key';
const STEP = { type: 'llm', name: 'answer', input: { text: 'bad', password: 'hunter2' } };
const BODY = { agent_name: AGENT, stage: 'pre', step: STEP };
const BROKEN = { selector: {}, evaluator: { name: 'missing-one', config: {} } };
const DRAFT = {
  template: {
    parameters: { word: { label: 'Word', type: 'string' } },
    definition_template: { ...denyWord('x'), condition: { $param: 'word' } },
  },
  template_values: {},
};

describeOnPostgresql('an explanation', (freshDatabaseUrl) => {
  let admin: RestClient;
  const ids: Record<string, number> = {};
  const service = suiteService(async () => ({
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_API_KEYS: READER,
    SERVICE_ADMIN_API_KEYS: ADMIN,
    SERVICE_OBSERVABILITY_RECORD: 'all',
    SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.02',
  }));
  const { call } = service;
  beforeAll(async () => {
    admin = (method, path, body, headers) => call(method, path, body, { 'x-api-key': ADMIN, ...headers });
    const { agent, control, link } = seeder(admin);
    await agent(AGENT);
    await agent('another-bot-1');
    for (const [name, data] of [
      ['matches', denyWord('bad')],
      ['disabled', denyWord('bad', { enabled: false })],
      ['in-client', denyWord('bad', { execution: 'sdk' })],
      ['later', denyWord('bad', { scope: { stages: ['post'] } })],
      ['fails', denyWord('bad', { condition: BROKEN })],
      ['damaged', denyWord('bad')],
      ['draft', DRAFT],
    ] as const) {
      ids[name] = await control(name, data);
      await link(AGENT, ids[name]);
    }
    await damageControl(service.databaseUrl, ids.damaged ?? 0, '{"action":{}}');
    ids.foreign = await control('foreign', denyWord('bad'));
    await link('another-bot-1', ids.foreign);
  });

  const explain = (body: object = BODY, key = ADMIN): Promise<RestReply> =>
    call('POST', EXPLAIN, body, { 'x-api-key': key });
  const told = ({ body }: RestReply, member: string): unknown[] =>
    body.controls.map((one: Record<string, unknown>) => [one.control_name, one[member]]);

  it('states for every linked control why it applies or not, newest first', async () => {
    const reply = await explain();
    expect(reply.status).toBe(200);
    expect(told(reply, 'reason')).toEqual([
      ['draft', 'template_unrendered'],
      ['damaged', 'damaged'],
      ['fails', 'applies'],
      ['later', 'stage'],
      ['in-client', 'not_server_side'],
      ['disabled', 'disabled'],
      ['matches', 'applies'],
    ]);
    expect(told(reply, 'decision').slice(0, 3)).toEqual([
      ['draft', null],
      ['damaged', null],
      ['fails', 'deny'],
    ]);
    const shown = reply.body.controls.at(-1).condition;
    expect(shown.selected.text).toBe('{"text":"bad","password":"***"}');
    expect(shown.duration_us).toBeGreaterThan(0);
    expect(JSON.stringify(reply.body)).not.toContain('hunter2');
  });

  it('gives the verdict that an evaluation gives, also right after a change', async () => {
    const { control, link } = seeder(admin);
    const id = await control('fresh', denyWord('hunter'));
    await link(AGENT, id);
    const withoutIds = (verdict: object) =>
      JSON.parse(JSON.stringify(verdict, (key, value) => (key === 'control_execution_id' ? '' : value)));
    const evaluation = await admin('POST', '/api/v1/evaluation', BODY);
    const { body } = await explain();
    expect(withoutIds(body.verdict)).toEqual({
      ...withoutIds(evaluation.body),
      outcome: 'deny',
      selected_controls: 4,
      evaluated_controls: 2,
      skipped_controls: 0,
    });
    expect(body.verdict.matches.map((one: { control_id: number }) => one.control_id)).toContain(id);
    await admin('DELETE', `/api/v1/controls/${id}?force=true`);
  });

  it('can be narrowed to some controls', async () => {
    const narrowed = await explain({ ...BODY, control_ids: [ids.matches, ids.later, ids.later] });
    expect(told(narrowed, 'applies')).toEqual([
      ['later', false],
      ['matches', true],
    ]);
    expect(narrowed.body.verdict).toMatchObject({ matches: [{ control_id: ids.matches }], errors: [] });
    expect(told(await explain({ ...BODY, control_ids: [] }), 'applies')).toHaveLength(7);
    expect(told(await explain({ ...BODY, control_ids: null }), 'applies')).toHaveLength(7);
    const foreign = await explain({ ...BODY, control_ids: [ids.foreign] });
    expect(foreign).toMatchObject({ status: 404, body: { error_code: 'CONTROL_NOT_FOUND' } });
    const tooMany = await explain({ ...BODY, control_ids: Array.from({ length: 1_001 }, () => 1) });
    expect(tooMany).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'control_ids', code: 'too_long' }] },
    });
  });

  it('shows admins the real problem, and others a fixed text', async () => {
    const problem = 'there is no evaluator named missing-one';
    const of = async (key: string) =>
      (await explain(BODY, key)).body.controls.find(
        (one: { control_id: number }) => one.control_id === ids.fails,
      );
    expect(await of(ADMIN)).toMatchObject({
      message: expect.stringContaining(problem),
      condition: { error: expect.stringContaining(problem) },
    });
    const fixed = await of(READER);
    expect(fixed).toMatchObject({ condition: { error: 'Internal evaluator error' } });
    expect(JSON.stringify(fixed)).not.toContain(problem);
  });

  it('is neither recorded nor counted as an evaluation', async () => {
    const metrics = async () => parseMetrics(await (await fetch(`${service.url}/metrics`)).text());
    const counted = async () => metric(await metrics(), 'control_enforcement_server_evaluations_total');
    const recordedOf = async (agentName: string): Promise<number> =>
      (await eventRoutes(admin).query({ agent_name: agentName })).body.total;
    const { agent, link } = seeder(admin);
    await agent('quiet-bot-1');
    await agent('loud-bot-1');
    await link('quiet-bot-1', ids.matches ?? 0);
    await link('loud-bot-1', ids.matches ?? 0);
    const before = await counted();
    for (let n = 0; n < 3; n += 1) {
      expect((await explain({ ...BODY, agent_name: 'quiet-bot-1' })).body.verdict.is_safe).toBe(false);
    }
    expect(await counted()).toBe(before);
    await admin('POST', '/api/v1/evaluation', { ...BODY, agent_name: 'loud-bot-1' });
    expect(await counted()).toBe(before + 1);
    // Events are stored in the order in which they came.
    await until(
      () => recordedOf('loud-bot-1'),
      (total) => total === 1,
    );
    expect(await recordedOf('quiet-bot-1')).toBe(0);
  });

  describe('of a definition in the request', () => {
    const withData = (data: unknown, more: object = {}) => ({ stage: 'pre', step: STEP, data, ...more });

    it('stands for a control of its own', async () => {
      const reply = await explain(withData(denyWord('bad'), { agent_name: AGENT }));
      expect(reply.body).toMatchObject({
        verdict: { is_safe: false, matches: [{ control_id: 0, control_name: 'data' }] },
        controls: [{ control_id: 0, control_name: 'data', applies: true }],
        omitted_controls: 0,
      });
    });
    it('is for admins', async () => {
      const reply = await explain(withData(denyWord('bad')), READER);
      expect(reply).toMatchObject({ status: 403, body: { error_code: 'AUTH_INSUFFICIENT_PRIVILEGES' } });
    });
    it.each<[string, object]>([
      ['a definition', { ...denyWord('('), action: {} }],
      ['a template', { template: {}, template_values: { x: 1 } }],
      [
        'an evaluator of an unknown agent',
        denyWord('x', { condition: { selector: {}, evaluator: { name: 'nobody-at-all:x', config: {} } } }),
      ],
      ['a template that is given a wrong value', { ...DRAFT, template_values: { word: 7 } }],
    ])('is refused as on creation: %s', async (_what, data) => {
      const created = await admin('PUT', '/api/v1/controls', { name: 'never', data });
      const tried = await explain(withData(data));
      expect(tried.status).toBe(created.status);
      expect(created.status).toBeGreaterThanOrEqual(400);
      expect(tried.body.error_code).toBe(created.body.error_code);
      expect(tried.body.errors).toEqual(created.body.errors);
    });
    it('may be a template, filled in or not', async () => {
      expect(told(await explain(withData(DRAFT)), 'reason')).toEqual([['data', 'template_unrendered']]);
      const template = {
        parameters: { word: { label: 'Word', type: 'string' } },
        definition_template: denyWord('', {
          condition: {
            selector: { path: 'input' },
            evaluator: { name: 'regex', config: { pattern: { $param: 'word' } } },
          },
        }),
      };
      // A control made from a template is enabled.
      const reply = await explain(withData({ template, template_values: { word: 'bad' } }));
      expect(reply.body).toMatchObject({ verdict: { is_safe: false }, controls: [{ reason: 'applies' }] });
    });
    it('stores nothing', async () => {
      const before = (await admin('GET', '/api/v1/controls')).body.pagination.total;
      await explain(withData(denyWord('bad')));
      expect((await admin('GET', '/api/v1/controls')).body.pagination.total).toBe(before);
    });
  });
});
