import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RestClient, restClient } from '../support/http.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { type CompiledService, compileOwnService, spawnService } from '../support/service-process.js';
import { until } from '../support/until.js';

const AGENT = 'searched-agent';
const NAMES = ['secrets', 'injection', 'pii', 'url', 'shell'];
const MESSAGE =
  'the service cannot run the evaluator pii without the package detectors, which is not installed';
const finds = (name: string, config: object = {}) => ({
  ...denyWord('unused'),
  condition: { selector: { path: 'input' }, evaluator: { name, config } },
});

describe('a service without the package detectors', () => {
  let service: CompiledService;
  let folder: string;
  let controlId: number;
  let call: RestClient;
  let output: () => string;
  const closing: (() => Promise<void>)[] = [];

  async function start() {
    const environment = { DATABASE_URL: `file:${folder}/service.db`, SERVICE_LOG_JSON: 'true' };
    const process = await spawnService(service, { environment });
    closing.push(() => process.dispose());
    output = process.stdout;
    call = restClient(await process.listening());
    return process;
  }

  const samplesAndRules = async () => {
    const { samples } = (await call('GET', '/api/v1/samples')).body as { samples: unknown[] };
    const { rules } = (await call('GET', '/api/v1/sampling-rules')).body;
    return { samples: samples.length, rules: rules as { dropped_samples: number }[] };
  };

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'without-detectors-'));
    service = await compileOwnService();
    closing.push(
      () => service.remove(),
      () => rm(folder, { recursive: true, force: true }),
    );
    const whole = await start();
    controlId = await seeder(call).linked(AGENT, 'no-personal-data', finds('pii'));
    expect((await call('POST', '/api/v1/sampling-rules', { share: 1 })).status).toBe(200);
    expect((await evaluate(call, AGENT, 'hello')).body.is_safe).toBe(true);
    await until(samplesAndRules, ({ samples }) => samples === 1);
    expect(Object.keys((await call('GET', '/api/v1/evaluators')).body)).toEqual(
      expect.arrayContaining(NAMES),
    );
    expect(output()).not.toContain('is not installed');
    await whole.dispose();
    await rm(path.join(path.dirname(service.main), '..', 'packages', 'detectors'), { recursive: true });
    await start();
  });
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });

  it('starts, and says what is missing and what it refuses', () => {
    expect(output()).toContain(
      '"package":"detectors","msg":"the package detectors is not installed: controls with secrets, injection, pii, url, shell are refused, and those that are stored fail closed, and no samples of steps are taken"',
    );
    expect(output().match(/is not installed/g)?.length).toBe(1);
  });

  it('lists the other evaluators only', async () => {
    const names = Object.keys((await call('GET', '/api/v1/evaluators')).body);
    expect(names).toEqual(expect.arrayContaining(['regex', 'list', 'json', 'sql', 'cel', 'rate', 'onnx']));
    expect(names.filter((name) => NAMES.includes(name))).toEqual([]);
  });

  it.each(NAMES)('refuses a control with %s by its name', async (name) => {
    const { status, body } = await call('PUT', '/api/v1/controls', { name: 'another', data: finds(name) });
    expect(status).toBe(422);
    const [item] = body.errors as { field: string; message: string }[];
    expect(item).toMatchObject({
      field: 'data.condition.evaluator.name',
      message: MESSAGE.replace('pii', name),
    });
  });

  it('refuses packs with one, a clone and an older version, and lists all packs', async () => {
    const { packs } = (await call('GET', '/api/v1/packs')).body as {
      packs: { name: string; missing_evaluators: string[] }[];
    };
    expect(packs.find(({ name }) => name === 'personal-data')?.missing_evaluators).toEqual(['pii']);
    const writes: [method: string, path: string, body: object][] = [
      ['POST', '/api/v1/packs/personal-data/install', { policy_name: 'searched' }],
      ['POST', `/api/v1/controls/${controlId}/versions/1/restore`, {}],
      [
        'POST',
        `/api/v1/controls/${controlId}/clone-and-bind`,
        { target_binding: { target_type: 'repo', target_id: 'a' } },
      ],
    ];
    for (const [method, place, body] of writes) {
      const reply = await call(method, place, body);
      expect([place, reply.status, JSON.stringify(reply.body)]).toEqual([
        place,
        422,
        expect.stringContaining(MESSAGE),
      ]);
    }
  });

  it('shows a stored control with the reason for which it fails', async () => {
    const { status, body } = await call('GET', `/api/v1/controls/${controlId}/data`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ condition: { evaluator: { name: 'pii' } } });
    const problems = await call('GET', '/api/v1/problems');
    expect(JSON.stringify(problems.body)).toContain(MESSAGE);
  });

  it.each([
    ['a step', 10],
    ['a large step, which a thread evaluates,', 200_000],
  ])('denies %s for a stored control', async (_name, length) => {
    const { status, body } = await evaluate(call, AGENT, 'x'.repeat(length));
    expect(status).toBe(200);
    expect(body.is_safe).toBe(false);
    const [error] = body.errors as { control_name: string; result: { error: string } }[];
    expect(error?.control_name).toBe('no-personal-data');
    expect(error?.result.error).toBe('Internal evaluator error');
    await until(output, (text) => text.includes(MESSAGE));
  });

  it('takes no samples, and refuses sampling rules', async () => {
    await evaluate(call, AGENT, 'hello');
    const isDropped = ({ dropped_samples: count }: { dropped_samples: number }) => count > 0;
    const { samples } = await until(samplesAndRules, ({ rules }) => rules.some(isDropped));
    expect(samples).toBe(1);
    const rule = { share: 1, agent_name: AGENT };
    const { status, body } = await call('POST', '/api/v1/sampling-rules', rule);
    expect(status).toBe(422);
    expect(body.detail).toContain('the package detectors, which is not installed');
  });
});
