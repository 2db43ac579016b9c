import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import { withGrowingTime } from '../../../support/growing-time.js';
import { until } from '../../../support/until.js';
import { type Behaviour, json, silent, startModel } from './model-server.js';
import { TOXIC, vendorModel } from './support.js';

const SOON = { ...TOXIC, timeout_ms: 1_000 };
const ALLOWED = { matched: false, confidence: 0, message: null, error: null };

describe('what the model is sent', () => {
  it.each<[string, JsonObject, JsonValue, object]>([
    ['a text', TOXIC, 'hello', { metric: 'input_toxicity', input: 'hello' }],
    ['nothing', TOXIC, null, { metric: 'input_toxicity', input: '' }],
    [
      'an object',
      TOXIC,
      { n: 2n ** 60n, b: true },
      { metric: 'input_toxicity', input: '{"n":1152921504606846976,"b":true}' },
    ],
    ['an output', { ...TOXIC, metric: 'output_sexism' }, 'x', { metric: 'output_sexism', output: 'x' }],
    [
      'what the configuration names',
      { ...TOXIC, payload_field: 'output' },
      'x',
      { metric: 'input_toxicity', output: 'x' },
    ],
    [
      'stage, project and metadata',
      { stage_type: 'central', stage_name: 's', stage_version: 2, vendor_project: 'p', metadata: { a: [1] } },
      'x',
      { input: 'x', stage: { name: 's', version: 2 }, project: 'p', metadata: { a: [1] } },
    ],
  ])('is %s', async (_name, config, data, body) => {
    const model = await startModel(json({ status: 'not_triggered' }));
    await vendorModel({ apiUrl: `${model.url}/base/` }).check(data, config);
    expect(model.requests).toHaveLength(1);
    const [request] = model.requests;
    expect(request).toMatchObject({ method: 'POST', url: '/base/v1/score' });
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer secret-key',
      'content-type': 'application/json',
    });
    expect(request?.body).toEqual(body);
  });
});

describe('what a reply means', () => {
  it.each<[string, JsonValue, number, boolean]>([
    ['gt', 0.5, 0.5, false],
    ['gt', 0.5, 0.51, true],
    ['gt', '0.5', 0.51, true],
    ['gte', 0.5, 0.5, true],
    ['lt', 0.5, 0.5, false],
    ['lt', 0.5, 0.4, true],
    ['lte', 0.5, 0.5, true],
    ['eq', 1, 1, true],
    ['eq', '1', 1.1, false],
    ['gt', 0, -1e308, false],
  ])('%s %j with score %d is %j', async (operator, target_value, score, matched) => {
    const model = await startModel(json({ score, trace_id: 't-1' }));
    const result = await vendorModel({ apiUrl: model.url }).check('x', { ...TOXIC, operator, target_value });
    expect(result).toEqual({
      matched,
      confidence: matched ? 1 : 0,
      message: `Score ${score} (triggered when ${operator} ${target_value})`,
      error: null,
      metadata: {
        status: matched ? 'triggered' : 'not_triggered',
        metric: 'input_toxicity',
        trace_id: 't-1',
        execution_time_ms: expect.any(Number),
        received_at: null,
        response_at: null,
      },
    });
  });
  it.each([
    ['triggered', true],
    ['not_triggered', false],
    ['skipped', false],
  ])('status %s is taken as it is', async (status, matched) => {
    const reply = {
      status,
      score: 0.9,
      message: 'said so',
      execution_time_ms: 12,
      received_at: '2026-01-01T00:00:00Z',
      response_at: '2026-01-01T00:00:01Z',
      extra: [1],
    };
    const model = await startModel(json(reply));
    const config = { ...TOXIC, operator: 'contains', target_value: 'x' };
    const { message, execution_time_ms, received_at, response_at } = reply;
    expect(await vendorModel({ apiUrl: model.url }).check('x', config)).toEqual({
      matched,
      confidence: matched ? 1 : 0,
      message,
      error: null,
      metadata: {
        status,
        metric: 'input_toxicity',
        trace_id: null,
        execution_time_ms,
        received_at,
        response_at,
      },
    });
  });
  it.each(['', ' \n', 'null', '{}'])(
    'the empty answer %j is no match, whatever on_error is',
    async (body) => {
      const model = await startModel(json(body));
      const result = await vendorModel({ apiUrl: model.url }).check('x', { ...TOXIC, on_error: 'deny' });
      expect(result).toEqual({ ...ALLOWED, metadata: { error: 'empty_response' } });
    },
  );
});

describe('a model that fails', () => {
  const broken: [string, Behaviour, string, number][] = [
    ['answers with an error of its own', json({}, 500), 'HttpError', 3],
    ['is overloaded', json({}, 503, { 'retry-after': '0' }), 'HttpError', 3],
    ['limits the rate', json({}, 429), 'HttpError', 3],
    ['limits the rate for longer than there is time', json({}, 429, { 'retry-after': '60' }), 'HttpError', 1],
    ['refuses the key', json({}, 401), 'HttpError', 1],
    ['redirects', json({}, 302, { location: 'http://127.0.0.1:1/elsewhere' }), 'HttpError', 1],
    ['answers with no JSON', json('<html>'), 'InvalidReply', 1],
    ['answers with a list', json([1]), 'InvalidReply', 1],
    ['answers with a text for a score', json({ score: '0.9' }), 'InvalidReply', 1],
    ['answers with NaN', json('{"score": NaN}'), 'InvalidReply', 1],
    ['answers with an infinite score', json('{"score": 1e999}'), 'InvalidReply', 1],
    ['answers with a number for a status', json({ status: 1 }), 'InvalidReply', 1],
    ['answers with a number for a trace id', json({ score: 1, trace_id: 1 }), 'InvalidReply', 1],
    ['answers with neither', json({ verdict: 'bad' }), 'InvalidReply', 1],
    ['answers with a huge body', json({ score: 1, text: 'x'.repeat(1_000_000) }), 'InvalidReply', 1],
    ['hangs up', (response) => response.destroy(), 'ConnectionError', 3],
    [
      'hangs up within its reply',
      (response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"score":');
        setImmediate(() => response.destroy());
      },
      'ConnectionError',
      3,
    ],
  ];
  it.each(broken)('because it %s is answered by on_error', async (_name, behaviour, error_type, calls) => {
    const model = await startModel(behaviour);
    const { check, status } = vendorModel({ apiUrl: model.url });
    const metadata = { error: expect.any(String), error_type, metric: 'input_toxicity' };
    expect(await check('x')).toEqual({ ...ALLOWED, metadata: { ...metadata, fallback_action: 'allow' } });
    expect(model.requests).toHaveLength(calls);
    expect(await check('x', { ...TOXIC, on_error: 'deny' })).toEqual({
      matched: true,
      confidence: 0,
      message: expect.any(String),
      metadata: { ...metadata, error_type: expect.any(String), fallback_action: 'deny' },
      error: null,
    });
    expect(status()).toMatchObject({ answeredErrors: 2, answeredTimeouts: 0, running: 0, queued: 0 });
  });
  it('because the connection is refused is answered by on_error, without the key', async () => {
    const model = await startModel(silent);
    await model.stop();
    const result = await vendorModel({ apiUrl: model.url }).check('x', { ...TOXIC, timeout_ms: 60_000 });
    expect(result.metadata).toMatchObject({ error_type: 'ConnectionError', fallback_action: 'allow' });
    expect(JSON.stringify(result)).not.toContain('secret-key');
  });
  it('because it is slow is given up in time, its connection too', async () => {
    const model = await startModel(silent);
    const { check, status } = vendorModel({ apiUrl: model.url });
    const result = await check('x', { ...SOON, on_error: 'deny' });
    expect(result.matched).toBe(true);
    expect(result.metadata).toMatchObject({ error_type: 'TimeoutError' });
    expect(status()).toMatchObject({ answeredErrors: 1, answeredTimeouts: 1 });
    expect(await until(model.open, (open) => open === 0)).toBe(0);
  });
  it('because its reply trickles is given up in time', async () => {
    const model = await startModel((response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(timer));
    });
    const result = await vendorModel({ apiUrl: model.url }).check('x', SOON);
    expect(result.metadata).toMatchObject({ error_type: 'TimeoutError' });
  });
  it('for a moment is called again', async () => {
    const model = await startModel(json({}, 503));
    let calls = 0;
    model.behave((response, request) => {
      calls += 1;
      (calls < 3 ? json({}, 503) : json({ score: 1 }))(response, request);
    });
    expect((await vendorModel({ apiUrl: model.url }).check('x')).matched).toBe(true);
    expect(calls).toBe(3);
  });
  it('cannot compare a score as configured is answered by on_error', async () => {
    const model = await startModel(json({ score: 1 }));
    const { check } = vendorModel({ apiUrl: model.url });
    for (const wrong of [{ operator: 'contains' }, { operator: 'any' }, { target_value: 'high' }]) {
      expect((await check('x', { ...TOXIC, ...wrong })).metadata).toMatchObject({
        error_type: 'InvalidReply',
      });
    }
  });
});

describe('the circuit breaker', () => {
  it('opens after failures in a row, finds out with one call whether it may close, and logs that', async () => {
    await withGrowingTime(100, opensAndCloses);
  });

  async function opensAndCloses(openMs: number): Promise<void> {
    const model = await startModel(json({}, 500));
    const limits = { retries: 0, failuresToOpen: 3, openMs };
    const { check, status, logged } = vendorModel({ apiUrl: model.url, limits });
    for (let call = 0; call < 5; call += 1) await check('x');
    expect(model.requests).toHaveLength(3);
    expect(status().breaker).toBe('open');
    expect((await check('x')).metadata).toMatchObject({ error_type: 'CircuitOpen' });
    expect(logged).toHaveLength(1);

    // While one call finds out, the others do not wait for it.
    let release = (): void => undefined;
    model.behave((response, request) => {
      release = () => json({ score: 1 })(response, request);
    });
    const probes: Promise<unknown>[] = [];
    await until(
      () => probes.push(check('x')),
      () => model.requests.length > 3,
    );
    expect(status().breaker).toBe('half_open');
    expect((await check('x')).metadata).toMatchObject({ error_type: 'CircuitOpen' });
    expect(model.requests).toHaveLength(4);
    release();
    await Promise.all(probes);
    expect(status().breaker).toBe('closed');
    model.behave(json({ score: 1 }));
    expect((await check('x')).matched).toBe(true);
  }

  it('does not open for refusals of single requests, nor for checks that are no longer awaited', async () => {
    const model = await startModel(json({}, 400));
    const limits = { retries: 0, failuresToOpen: 2 };
    const { check, status } = vendorModel({ apiUrl: model.url, limits });
    for (let call = 0; call < 4; call += 1) await check('x');
    model.behave(silent);
    for (let call = 0; call < 4; call += 1) {
      const controller = new AbortController();
      const given = check('x', TOXIC, controller.signal);
      await until(model.open, (open) => open === 1);
      controller.abort();
      await expect(given).rejects.toThrow('the check was given up');
      await until(model.open, (open) => open === 0);
    }
    expect(status()).toMatchObject({ breaker: 'closed', answeredErrors: 4 });
  });
});

describe('many checks', () => {
  it('run a bounded number at a time, wait in a bounded queue, and leave it when they are no longer awaited', async () => {
    const model = await startModel(silent);
    const limits = { concurrent: 2, waiting: 2 };
    const { check, status } = vendorModel({ apiUrl: model.url, limits });
    const controller = new AbortController();
    const first = [check('1'), check('2')];
    const third = check('3', TOXIC, controller.signal);
    const fourth = check('4');
    expect((await check('5')).metadata).toMatchObject({ error_type: 'Overloaded' });
    expect(status()).toMatchObject({ running: 2, queued: 2 });
    controller.abort();
    await expect(third).rejects.toThrow('given up');
    expect(status()).toMatchObject({ running: 2, queued: 1 });
    await until(model.open, (open) => open === 2);
    model.behave(json({ score: 1 }));
    // Those that got no answer are repeated once their connection is gone.
    await model.stop();
    for (const one of [...first, fourth]) expect(await one).toMatchObject({ error: null });
    expect(model.requests.map(({ body }) => body.input)).not.toContain('3');
    expect(status()).toMatchObject({ running: 0, queued: 0 });
  });
});

describe('without its configuration', () => {
  it.each([
    ['VENDOR_API_KEY', { apiUrl: 'http://127.0.0.1:1', apiKey: null }],
    ['VENDOR_API_URL', { apiUrl: null }],
  ])('%s every check is an error, and the log states why', async (name, options) => {
    const { check, logged, evaluator } = vendorModel(options);
    await expect(check('x', { ...TOXIC, on_error: 'allow' })).rejects.toThrow(`${name} is not set`);
    expect(logged).toEqual([`${name} is not set, so vendor.model cannot be asked`]);
    expect(evaluator).toMatchObject({ name: 'vendor.model', version: '3.0.0', requiresApiKey: true });
  });
  it('at all it starts silently', () => {
    expect(vendorModel({ apiUrl: null, apiKey: null }).logged).toEqual([]);
  });
  it.each(['http://user:pw@models.example', 'https://models.example/?a=1'])(
    '%s stops the start',
    (apiUrl) => {
      expect(() => vendorModel({ apiUrl })).toThrow(/^VENDOR_API_URL: /);
    },
  );
});
