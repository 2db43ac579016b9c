import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, type ModelServer, openModel, silent } from '../kernel/evaluators/vendor-model/model-server.js';
import { type ProblemsReply, problemsOf } from '../observe/problems/problems.support.js';
import { type RestClient, type RestReply, restClient } from '../support/http.js';
import { metric, parseMetrics, type Sample } from '../support/prometheus.js';
import { evaluate, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { testService } from '../support/service-suite.js';
import { until } from '../support/until.js';

const MODULES = path.resolve(import.meta.dirname, '../kernel/evaluators/custom/modules');
const TOXIC = { metric: 'input_toxicity', operator: 'gt', target_value: 0.5 };
const P = 'control_enforcement_server_evaluator';

let model: ModelServer;
let service: TestService;
let call: RestClient;
let seed: ReturnType<typeof seeder>;

beforeAll(async () => {
  model = await openModel(json({ score: 0.9 }));
  service = await startService({
    SERVICE_EVALUATORS: `${MODULES}/unruly.mjs,${MODULES}/with-zod.mjs`,
    MAX_CONCURRENT_EVALUATIONS: '1',
    VENDOR_API_URL: model.url,
    VENDOR_API_KEY: 'vendor-secret',
    SERVICE_API_KEY_ENABLED: 'false',
    SERVICE_API_KEYS: 'not-for-evaluators',
    TIME_LIMIT: '3000',
    TONE: 'polite',
  });
  call = restClient(service.url);
  seed = seeder(call);
});
afterAll(async () => {
  await service.stop();
  await model.stop();
});

/** Registers an agent with one control for each evaluator. */
async function agentWith(
  name: string,
  leaves: readonly { name: string; config: object; decision?: string }[],
): Promise<void> {
  await seed.agent(name);
  for (const [index, { decision = 'deny', ...evaluator }] of leaves.entries()) {
    const data = {
      execution: 'server',
      condition: { selector: { path: 'input' }, evaluator },
      action: { decision },
    };
    await seed.link(name, await seed.control(`${name}-${index}`, data));
  }
}

/**
 * An evaluation without errors. On a busy machine a new worker may start after the time limit of the check that waits for
 * it; then it is made again.
 */
function inTime(attempt: () => Promise<RestReply>, onTimeout: () => void = () => {}): Promise<RestReply> {
  return until(attempt, ({ body: { errors } }) => {
    if (errors.length > 0) onTimeout();
    return errors.length === 0;
  });
}

async function scrape(): Promise<Sample[]> {
  return parseMetrics(String((await call('GET', '/metrics')).body));
}

describe('custom evaluators and the external model', () => {
  it('are in the list of evaluators', async () => {
    const { body } = await call('GET', '/api/v1/evaluators');
    expect(Object.keys(body)).toEqual(
      expect.arrayContaining(['regex', 'list', 'vendor.model', 'unruly', 'with-zod']),
    );
    expect(body.unruly).toEqual({
      name: 'unruly',
      version: '1.2.3',
      description: 'Misbehaves on demand.',
      requires_api_key: false,
      timeout_ms: 3_000,
      config_schema: { type: 'object', properties: { words: { type: 'integer' } } },
    });
    expect(body['vendor.model']).toMatchObject({
      version: '3.0.0',
      requires_api_key: true,
      timeout_ms: 10_000,
    });
  });
  it.each([
    ['with-zod', { limit: 'x', words: [1] }, ['limit int_type', 'words[0] string_type']],
    ['with-zod', { limit: 0 }, ['limit greater_than_equal']],
    ['vendor.model', { ...TOXIC, on_error: 'x' }, ['on_error literal_error']],
  ])(
    '%s refuses the configuration %j when a control is made or validated',
    async (name, config, expected) => {
      const data = {
        condition: { selector: { path: 'input' }, evaluator: { name, config } },
        action: { decision: 'deny' },
        execution: 'server',
      };
      for (const [method, url, body] of [
        ['PUT', '/api/v1/controls', { name: 'refused', data }],
        ['POST', '/api/v1/controls/validate', { data }],
      ] as const) {
        const reply = await call(method, url, body);
        expect(reply.status).toBe(422);
        const items = reply.body.errors as { field: string; code: string }[];
        expect(
          items.map(({ field, code }) => `${field.replace('data.condition.evaluator.', '')} ${code}`),
        ).toEqual(expected);
      }
    },
  );
  it('are known: a control that names them has no warning', async () => {
    const data = {
      condition: { selector: {}, evaluator: { name: 'with-zod', config: {} } },
      action: { decision: 'deny' },
      execution: 'server',
    };
    expect((await call('PUT', '/api/v1/controls', { name: 'known', data })).body.warnings).toEqual([]);
  });
  it('tell what they lack when a control is made, validated or linked', async () => {
    const bare = await testService();
    const without = restClient(bare.url);
    const data = {
      condition: { selector: { path: 'input' }, evaluator: { name: 'vendor.model', config: TOXIC } },
      action: { decision: 'deny' },
      execution: 'server',
    };
    const warning = {
      code: 'unconfigured_evaluator',
      field: 'data.condition.evaluator.name',
      message: expect.stringContaining('VENDOR_API_KEY is not set'),
    };
    const made = await without('PUT', '/api/v1/controls', { name: 'asks-a-model', data });
    expect(made.body.warnings).toEqual([warning]);
    expect((await without('POST', '/api/v1/controls/validate', { data })).body.warnings).toEqual([warning]);
    const control = `/api/v1/controls/${made.body.control_id}`;
    expect((await without('PATCH', control, { enabled: false })).body.warnings).toBeUndefined();
    expect((await without('PATCH', control, { enabled: true })).body.warnings).toEqual([warning]);
    await seeder(without).agent('asks-a-model-1');
    const path = `/api/v1/agents/asks-a-model-1/controls/${made.body.control_id}`;
    expect((await without('POST', path)).body.warnings).toEqual([
      expect.objectContaining({ code: 'unconfigured_evaluator' }),
    ]);
  });
  it('decide about steps', async () => {
    await agentWith('decided-agent', [
      { name: 'unruly', config: {}, decision: 'observe' },
      { name: 'vendor.model', config: TOXIC },
    ]);
    model.behave(json({ score: 0.9, trace_id: 't-7' }));
    const unsafe = (await evaluate(call, 'decided-agent', 'bad')).body;
    expect(unsafe.is_safe).toBe(false);
    // Once the deny matched, the observe control may be left out.
    const denied = unsafe.matches.find(({ action }: { action: string }) => action === 'deny');
    expect(denied.result).toMatchObject({
      matched: true,
      metadata: { status: 'triggered', trace_id: 't-7', metric: 'input_toxicity' },
    });
    model.behave(json({ score: 0.1 }));
    const { body: safe } = await inTime(() => evaluate(call, 'decided-agent', 'bad'));
    expect(safe).toMatchObject({
      is_safe: true,
      matches: [{ action: 'observe', result: { matched: true } }],
    });
  });
  it('fail closed when they fail, with a fixed text', async () => {
    await agentWith('failing-agent', [{ name: 'unruly', config: {} }]);
    const { body } = await until(
      () => evaluate(call, 'failing-agent', { do: 'throw' }),
      () => service.logLines.some((line) => line.includes('evaluator unruly: thrown on demand')),
    );
    expect(body).toMatchObject({
      is_safe: false,
      errors: [{ result: { error: 'Internal evaluator error' } }],
    });
    expect(JSON.stringify(body)).not.toContain('thrown on demand');
    const late = await evaluate(call, 'failing-agent', { do: 'loop' });
    expect(late.body).toMatchObject({
      is_safe: false,
      errors: [{ result: { error: 'Evaluator timed out' } }],
    });
  });
  it('are told as problems when their controls fail and deny', async () => {
    await agentWith('broken-agent', [{ name: 'unruly', config: {} }]);
    for (let count = 0; count < 3; count += 1) await evaluate(call, 'broken-agent', { do: 'throw' });
    let timeouts = 0;
    await inTime(
      () => evaluate(call, 'broken-agent', 'good'),
      () => {
        timeouts += 1;
      },
    );
    await call('POST', '/api/v1/observability/flush');
    const subject = (reply: ProblemsReply, kind: string, name: string) =>
      reply.problems
        .filter((problem) => problem.kind === kind)
        .flatMap(({ severity, subjects }) => subjects.map((one) => ({ severity, ...one })))
        .find((one) => one.name === name);
    const reply = await until(
      () => problemsOf(call),
      (told) => subject(told, 'agent_denied_by_error', 'broken-agent') !== undefined,
    );
    expect(subject(reply, 'agent_denied_by_error', 'broken-agent')).toMatchObject({
      severity: 'critical',
      detail: `${3 + timeouts} of ${4 + timeouts} denied, all by error`,
    });
    expect(subject(reply, 'control_failing', 'broken-agent-0')).toMatchObject({
      severity: 'warning',
      detail: expect.stringContaining('last error at '),
    });
  });
  it('see no secret of the service', async () => {
    await agentWith('curious-agent', [{ name: 'unruly', config: {} }]);
    const { body } = await inTime(() => evaluate(call, 'curious-agent', { do: 'environment' }));
    const { condition_trace: _, ...environment } = body.matches[0].result.metadata;
    expect(environment).toEqual({ TIME_LIMIT: '3000', TONE: 'polite' });
  });
  it('are counted: calls, errors, time-outs, duration, restarts, breaker', async () => {
    await agentWith('counted-agent', [{ name: 'unruly', config: {} }]);
    await agentWith('asking-agent', [{ name: 'vendor.model', config: { ...TOXIC, on_error: 'deny' } }]);
    const before = await scrape();
    model.behave(json({}, 400));
    await evaluate(call, 'asking-agent', 'x');
    let timeouts = 0;
    const good = () =>
      inTime(
        () => evaluate(call, 'counted-agent', 'good'),
        () => {
          timeouts += 1;
        },
      );
    await good();
    await evaluate(call, 'counted-agent', { do: 'throw' });
    await evaluate(call, 'counted-agent', { do: 'loop' });
    await good();
    const after = await scrape();
    const grown = (name: string, evaluator: string) =>
      metric(after, `${P}_${name}`, { evaluator }) - metric(before, `${P}_${name}`, { evaluator });
    expect(grown('calls_total', 'unruly')).toBe(4 + timeouts);
    expect(grown('errors_total', 'unruly')).toBe(2 + timeouts);
    expect(grown('timeouts_total', 'unruly')).toBe(1 + timeouts);
    expect(grown('duration_seconds_count', 'unruly')).toBe(4 + timeouts);
    expect(grown('worker_restarts_total', 'unruly')).toBeGreaterThanOrEqual(1);
    expect(grown('calls_total', 'vendor.model')).toBe(1);
    expect(grown('errors_total', 'vendor.model')).toBe(1);
    expect(grown('timeouts_total', 'vendor.model')).toBe(0);
    const breaker = (state: string) =>
      metric(after, `${P}_breaker_state`, { evaluator: 'vendor.model', state });
    expect([breaker('closed'), breaker('half_open'), breaker('open')]).toEqual([1, 0, 0]);
  });
  it('cost other agents nothing while they are stuck: they have queues of their own', async () => {
    await agentWith('stuck-agent', [
      { name: 'unruly', config: {} },
      { name: 'vendor.model', config: { ...TOXIC, timeout_ms: 60_000 } },
    ]);
    await agentWith('lively-agent', [
      { name: 'with-zod', config: {} },
      { name: 'regex', config: { pattern: 'never' } },
    ]);
    model.behave(silent);
    const running = async (evaluator: string) => {
      const samples = await scrape();
      return [
        metric(samples, `${P}_running`, { evaluator }),
        metric(samples, `${P}_queue_length`, { evaluator }),
      ];
    };
    let stuck = 3;
    const answers = Array.from({ length: stuck }, () =>
      evaluate(call, 'stuck-agent', { do: 'loop' }).then((reply) => {
        stuck -= 1;
        return reply;
      }),
    );
    await until(
      () => running('unruly'),
      ([active, queued]) => active === 1 && queued === 2,
    );
    const { body } = await evaluate(call, 'lively-agent', 'x');
    expect(body).toMatchObject({ is_safe: false, matches: [{ result: { confidence: 0.5 } }], errors: [] });
    // The answer came while nothing of the others was done.
    expect(stuck).toBe(3);
    expect(await running('unruly')).toEqual([1, 2]);
    expect(await running('with-zod')).toEqual([0, 0]);
    model.behave(json({ score: 0 }));
    model.hangUp();
    for (const { body } of await Promise.all(answers)) expect(body.is_safe).toBe(false);
  });
});
