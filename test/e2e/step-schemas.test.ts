import { type CallOptions, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentService, StepSchemas } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { EvaluationService, Outcome } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { restClient } from '../support/http.js';
import { BIDI_PROTOCOLS, RPC_PROTOCOLS, type RpcProtocol, rpcTransport } from '../support/rpc-transports.js';
import { denyWord, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { describeServiceOnSqlite, testService } from '../support/service-suite.js';
import { until } from '../support/until.js';

const EVALUATION = '/api/v1/evaluation';
const HEADER = 'x-service-warning';
const INPUT = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const OUTPUT = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
const STEPS = [
  { type: 'tool', name: 'send_email', input_schema: INPUT, output_schema: OUTPUT },
  { type: 'tool', name: 'broken', input_schema: { type: 'no-such-type' } },
  { type: 'tool', name: 'free' },
];
const SECRET = 'card 4111111111111111';
const DENIED = 'the input of step send_email does not match its registered schema: input.text is required';
const WARNED = 'step.input.text: is required, by the registered schema of the step';

interface AskedStep {
  readonly name?: string;
  readonly input?: object;
  readonly output?: unknown;
  readonly stage?: 'pre' | 'post';
}

/** An input without the required member. */
const WRONG: AskedStep = { input: { txt: SECRET } };
const RIGHT: AskedStep = { input: { text: SECRET } };

const asked = (agent: string, { stage = 'pre', name = 'send_email', input = {}, output }: AskedStep) => ({
  agent_name: agent,
  stage,
  step: { type: 'tool', name, input, ...(output === undefined ? {} : { output }) },
});

const askedOfRpc = (agent: string, step: AskedStep) => ({
  agentName: agent,
  stage: step.stage === 'post' ? Stage.POST : Stage.PRE,
  stepForm: { case: 'stepJson', value: Buffer.from(JSON.stringify(asked(agent, step).step)) } as const,
});

/** Each case: the mode of the agent, the step, and what its verdict is. */
const CASES: [string, 'off' | 'warn' | 'enforce', AskedStep, { safe: boolean; problem: string | null }][] = [
  ['a right step', 'enforce', RIGHT, { safe: true, problem: null }],
  ['a wrong step that is reported', 'warn', WRONG, { safe: true, problem: 'input.text is required' }],
  ['a wrong step that is denied', 'enforce', WRONG, { safe: false, problem: 'input.text is required' }],
  ['a wrong step that is not compared', 'off', WRONG, { safe: true, problem: null }],
  ['a step without a schema', 'enforce', { ...WRONG, name: 'free' }, { safe: true, problem: null }],
  ['a step that is not registered', 'enforce', { ...WRONG, name: 'other' }, { safe: true, problem: null }],
  [
    'a wrong output',
    'enforce',
    { ...RIGHT, stage: 'post', output: { id: 7 } },
    { safe: false, problem: 'output.id is not of type string' },
  ],
  ['a wrong output before the step', 'enforce', { ...RIGHT, output: 7 }, { safe: true, problem: null }],
  [
    'a schema that cannot be used',
    'warn',
    { ...RIGHT, name: 'broken' },
    { safe: true, problem: 'input cannot be compared: its registered schema is invalid' },
  ],
  [
    'a schema that cannot be used, enforced',
    'enforce',
    { ...RIGHT, name: 'broken' },
    { safe: false, problem: 'input cannot be compared: its registered schema is invalid' },
  ],
];

describeServiceOnSqlite(
  'steps and their registered schemas',
  ({ call, seed, service }) => {
    const agentOf = (mode: string) => `schemas-${mode}-1`;
    const set = (agent: string, step_schemas: string, more: object = {}) =>
      call('PATCH', `/api/v1/agents/${agent}`, { step_schemas, ...more });
    const evaluate = (agent: string, step: AskedStep, more: object = {}) =>
      call('POST', EVALUATION, { ...asked(agent, step), ...more });
    const rpc = (protocol: RpcProtocol) =>
      createClient(EvaluationService, rpcTransport(protocol, service.url));
    const agents = () => createClient(AgentService, rpcTransport('gRPC', service.url));

    beforeAll(async () => {
      const control = await seed.control('no-bad', denyWord('bad'));
      for (const mode of ['off', 'warn', 'enforce']) {
        await seed.agent(agentOf(mode), { steps: STEPS });
        await seed.link(agentOf(mode), control);
        expect((await set(agentOf(mode), mode)).status).toBe(200);
      }
    });

    it.each(CASES)(
      '%s has the same verdict over every protocol',
      async (_name, mode, step, { safe, problem }) => {
        const agent = agentOf(mode);
        const told: (string | null)[] = [];
        const verdicts: unknown[] = [];
        const shown = (mismatch: { path: string; problem: string } | null | undefined) =>
          mismatch ? `${mismatch.path} ${mismatch.problem}` : null;

        const reply = await evaluate(agent, step, { accepts: ['allow', 'deny', 'steer'] });
        const { is_safe, outcome, reason, schema_mismatch } = reply.body;
        told.push(reply.headers.get(HEADER));
        verdicts.push([is_safe, outcome, reason, shown(schema_mismatch)]);
        const plain = await evaluate(agent, step);
        expect(plain.body).not.toHaveProperty('schema_mismatch');
        expect(plain.body.is_safe).toBe(safe);
        told.push(plain.headers.get(HEADER));
        for (const protocol of RPC_PROTOCOLS) {
          const options: CallOptions = { onTrailer: (trailer) => told.push(trailer.get(HEADER)) };
          const verdict = await rpc(protocol).evaluate(askedOfRpc(agent, step), options);
          verdicts.push([
            verdict.isSafe,
            verdict.outcome === Outcome.DENY ? 'deny' : 'allow',
            verdict.reason ?? null,
            shown(verdict.schemaMismatch),
          ]);
        }
        const batch = { evaluations: [asked(agent, RIGHT), { ...asked(agent, step), accepts: ['allow'] }] };
        const many = await call('POST', `${EVALUATION}/batch`, batch);
        const { verdict: one } = many.body.results[1];
        verdicts.push([one.is_safe, one.outcome, one.reason, shown(one.schema_mismatch)]);
        for (const protocol of BIDI_PROTOCOLS) {
          const stream = rpc(protocol).evaluateStream(
            (async function* () {
              yield { id: 'one', evaluations: [askedOfRpc(agent, step)] };
            })(),
          );
          for await (const { results } of stream) {
            const found = results[0]?.outcome;
            if (found?.case !== 'verdict') throw new Error('there is no verdict');
            const { isSafe, reason: why, schemaMismatch } = found.value;
            verdicts.push([isSafe, isSafe ? 'allow' : 'deny', why ?? null, shown(schemaMismatch)]);
          }
        }
        const explained = await call('POST', `${EVALUATION}/explain`, asked(agent, step));
        const tried = explained.body.verdict;
        verdicts.push([tried.is_safe, tried.outcome ?? outcome, tried.reason, shown(schema_mismatch)]);

        expect(verdicts).toHaveLength(2 + RPC_PROTOCOLS.length + BIDI_PROTOCOLS.length + 1);
        const [first] = verdicts as [boolean, string, string | null, string | null][];
        for (const verdict of verdicts) expect(verdict).toEqual(first);
        expect(first?.[0]).toBe(safe);
        expect(first?.[1]).toBe(safe ? 'allow' : 'deny');
        expect(first?.[2] === null).toBe(safe);
        if (problem === null) expect(first?.[3]).toBeNull();
        else expect(first?.[3]).toContain(problem);
        for (const header of told) {
          if (problem === null) expect(header).toBeNull();
          else expect(header).toMatch(/^step\.(?:input|output)/);
        }
        const header = many.headers.get(HEADER);
        if (problem === null) expect(header).toBeNull();
        else expect(header).toMatch(/^evaluations\[1\]\.step\./);
        expect(JSON.stringify([verdicts, told])).not.toContain('4111');
      },
    );

    it('says what is wrong, beside what the controls find', async () => {
      const wrong = { input: { txt: 'bad' } };
      const denied = await evaluate(agentOf('enforce'), wrong);
      expect(denied.body).toMatchObject({ is_safe: false, matches: [{ control_name: 'no-bad' }] });
      expect(denied.body.reason).toMatch(new RegExp(`^${DENIED}; deny control "no-bad" matched`));
      const warned = await evaluate(agentOf('warn'), WRONG);
      expect([warned.body.reason, warned.headers.get(HEADER)]).toEqual([null, WARNED]);
    });

    it('denies a step that a control only steers', async () => {
      const agent = 'schemas-steered-1';
      await seed.agent(agent, { steps: STEPS });
      const steering = { decision: 'steer', steering_context: { message: 'ask first' } };
      await seed.link(agent, await seed.control('steer-bad', denyWord('bad', { action: steering })));
      await set(agent, 'enforce');
      const accepts = ['allow', 'deny', 'steer'];
      const steered = await evaluate(agent, { input: { text: 'bad' } }, { accepts });
      expect(steered.body).toMatchObject({ outcome: 'steer' });
      const denied = await evaluate(agent, { input: { txt: 'bad' } }, { accepts });
      expect(denied.body).toMatchObject({ outcome: 'deny', matches: [{ action: 'steer' }] });
    });

    it('follows what is registered, without a pause in this process, and soon in another one', async () => {
      const agent = 'schemas-changing-1';
      await seed.agent(agent, { steps: [] });
      await set(agent, 'enforce');
      const other = await testService({ DATABASE_URL: service.databaseUrl });
      const there = restClient(other.url);
      const isSafe = async (client = call): Promise<boolean> =>
        (await client('POST', EVALUATION, asked(agent, WRONG))).body.is_safe;
      expect([await isSafe(), await isSafe(there)]).toEqual([true, true]);
      await seed.agent(agent, { steps: STEPS, conflict_mode: 'overwrite' });
      expect(await isSafe()).toBe(false);
      await until(
        () => isSafe(there),
        (safe) => !safe,
      );
      await call('PATCH', `/api/v1/agents/${agent}`, {
        remove_steps: [{ type: 'tool', name: 'send_email' }],
      });
      expect(await isSafe()).toBe(true);
      await until(
        () => isSafe(there),
        (safe) => safe,
      );
      await seed.agent(agent, { steps: STEPS });
      expect(await isSafe()).toBe(false);
      await set(agent, 'off');
      expect(await isSafe()).toBe(true);
      await until(
        () => isSafe(there),
        (safe) => safe,
      );
    });

    it('is set by admins for one agent, with a warning if that is weaker, and shown with what differed', async () => {
      const agent = 'schemas-setting-1';
      await seed.agent(agent, { steps: STEPS });
      const shown = async () => {
        const { stepSchemas, effectiveStepSchemas, mismatchedSteps, version } = await agents().getAgent({
          agentName: agent,
        });
        return {
          own: stepSchemas,
          effective: effectiveStepSchemas,
          steps: mismatchedSteps,
          version: Number(version),
        };
      };
      expect(await shown()).toEqual({
        own: StepSchemas.DEFAULT,
        effective: StepSchemas.WARN,
        steps: [],
        version: 1,
      });
      const weaker = await set(agent, 'off');
      expect(weaker.body.warnings).toMatchObject([{ code: 'weaker_than_service', field: 'step_schemas' }]);
      expect((await set(agent, 'enforce')).body).not.toHaveProperty('warnings');
      expect(await shown()).toMatchObject({
        own: StepSchemas.ENFORCE,
        effective: StepSchemas.ENFORCE,
        version: 1,
      });
      const listed = await agents().listAgents({ name: agent });
      expect(listed.agents).toMatchObject([{ stepSchemas: StepSchemas.ENFORCE }]);
      for (let count = 0; count < 2; count += 1) await evaluate(agent, WRONG);
      const [step] = (await shown()).steps;
      expect(step).toMatchObject({
        type: 'tool',
        name: 'send_email',
        part: 'input',
        path: 'input.text',
        count: 2n,
      });
      expect((await call('GET', `/api/v1/agents/${agent}`)).body).not.toHaveProperty('step_schemas');
      // A registration cannot set it, and does not change it.
      await seed.agent(agent, { steps: STEPS, step_schemas: 'off', force_replace: true });
      expect(await shown()).toMatchObject({ own: StepSchemas.ENFORCE });
      expect((await set(agent, 'default')).status).toBe(200);
      expect(await shown()).toMatchObject({ own: StepSchemas.DEFAULT, effective: StepSchemas.WARN });
      expect((await set(agent, 'strict')).status).toBe(422);
      expect((await set(agent, 'off', { if_version: 7 })).status).toBe(412);
      expect(await shown()).toMatchObject({ own: StepSchemas.DEFAULT });
    });

    it('is counted, logged once for each agent, and part of the events of the evaluation', async () => {
      const agent = 'schemas-counted-1';
      await seed.agent(agent, { steps: STEPS });
      await seed.link(agent, await seed.control('counted', denyWord('bad')));
      for (let count = 0; count < 3; count += 1) await evaluate(agent, { input: { txt: 'bad' } });
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      const counted = /step_schema_mismatches_total\{stage="pre",mode="warn"[^}]*\} (\d+)/.exec(metrics);
      expect(Number(counted?.[1])).toBeGreaterThanOrEqual(3);
      const lines = service.logLines.filter((line) => line.includes(agent) && line.includes('input.text'));
      expect(lines).toHaveLength(1);
      expect(lines[0]).not.toContain('"bad"');
      const events = await until(
        async () =>
          (await call('POST', '/api/v1/observability/events/query', { agent_name: agent })).body.events as {
            metadata: object;
          }[],
        (found) => found.length === 3,
      );
      expect(events[0]?.metadata).toEqual({
        schema_mismatch: { part: 'input', path: 'input.text', problem: 'is required', not_compared: false },
      });
    });
  },
  { SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.05' },
);

describe('the setting of the service', () => {
  const services: TestService[] = [];
  afterAll(() => Promise.all(services.map((service) => service.stop())));

  it.each([
    ['off', true, null],
    ['warn', true, WARNED],
    ['enforce', false, WARNED],
  ])('%s is that of every agent without one of its own', async (mode, safe, header) => {
    const service = await startService({ SERVICE_STEP_SCHEMAS: mode });
    services.push(service);
    const call = restClient(service.url);
    await seeder(call).agent('schemas-usual-1', { steps: STEPS });
    const reply = await call('POST', EVALUATION, asked('schemas-usual-1', WRONG));
    expect([reply.body.is_safe, reply.headers.get(HEADER)]).toEqual([safe, header]);
    if (mode !== 'enforce') return;
    expect(reply.body.reason).toBe(DENIED);
    const weaker = await call('PATCH', '/api/v1/agents/schemas-usual-1', { step_schemas: 'warn' });
    expect(weaker.body.warnings[0].message).toContain('SERVICE_STEP_SCHEMAS=enforce');
    expect((await call('POST', EVALUATION, asked('schemas-usual-1', WRONG))).body.is_safe).toBe(true);
  });
});
