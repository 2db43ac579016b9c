import { beforeAll, describe, expect, it } from 'vitest';
import { methodNamed } from '../support/protocol-clients.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { suiteClient, suiteService } from '../support/service-suite.js';

const AGENT = 'replied-agent-1';
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;

describe('the reply of an evaluation', () => {
  const service = suiteService();
  const { call, seed } = service;
  beforeAll(async () => {
    await seed.linked(AGENT, 'first', denyWord('bad'));
    await seed.link(
      AGENT,
      await seed.control('second', {
        execution: 'server',
        condition: { selector: { path: 'context.id' }, evaluator: { name: 'not-installed', config: {} } },
        action: { decision: 'observe', steering_context: { message: 'm' } },
      }),
    );
  });

  it('has every member over REST, in the order of the contract', async () => {
    const { body } = await evaluate(call, AGENT, 'bad');
    const ids = JSON.stringify(body).match(UUID);
    expect(new Set(ids).size).toBe(2);
    const failed = body.errors[0].result.error;
    expect(failed).toEqual(expect.any(String));
    expect(JSON.stringify(body).replaceAll(UUID, 'id')).toBe(
      JSON.stringify({
        is_safe: false,
        confidence: 1,
        reason: body.reason,
        matches: [
          {
            control_execution_id: 'id',
            control_id: 1,
            control_name: 'first',
            action: 'deny',
            result: {
              matched: true,
              confidence: 1,
              message: body.matches[0].result.message,
              metadata: {
                pattern: 'bad',
                condition_trace: {
                  type: 'leaf',
                  evaluated: true,
                  matched: true,
                  selector_path: 'input',
                  evaluator_name: 'regex',
                  confidence: 1,
                  error: null,
                  message: body.matches[0].result.message,
                },
              },
              error: null,
            },
            steering_context: null,
          },
        ],
        errors: [
          {
            control_execution_id: 'id',
            control_id: 2,
            control_name: 'second',
            action: 'observe',
            result: {
              matched: false,
              confidence: 0,
              message: failed,
              metadata: body.errors[0].result.metadata,
              error: failed,
            },
            steering_context: { message: 'm', required_actions: [] },
          },
        ],
        non_matches: [],
      }),
    );
    expect(body.reason).toContain('first');
  });

  it('is the same whatever the step carries that no control looks at', async () => {
    const odd =
      '{"agent_name":"replied-agent-1","stage":"pre","unknown":1,"step":{"type":"llm","name":"a\\u0000\\ud83d",' +
      '"input":"good","output":[123456789012345678901234567890,1e300,0.12345678901234567890],"context":{"__proto__":{"id":1}},"more":{}}}';
    const reply = await call('POST', '/api/v1/evaluation', odd, { 'x-trace-id': 'x', 'x-span-id': 'y' });
    expect(reply).toMatchObject({ status: 200, body: { is_safe: true, reason: null, matches: [] } });
  });
});

describe('free-form data over gRPC', () => {
  const service = suiteService();
  const { call } = service;
  const grpc = suiteClient(service, 'gRPC (grpc-js)');

  /** Names that objects of JavaScript have anyway are the ones that are lost first. */
  const TRICKY = '{"constructor":{"prototype":"x"},"toString":1,"hasOwnProperty":[{"valueOf":null}],"":0}';
  const HIDING = '{"__proto__":{"a":1},"x":{"__proto__":"secret"}}';

  it('is stored as it came', async () => {
    const agent = { agent_name: 'tricky-agent-1', agent_metadata: JSON.parse(TRICKY) };
    expect(await grpc.call(methodNamed('AgentService.InitAgent'), { agent })).toMatchObject({ ok: true });
    const text = await (await fetch(`${service.url}/api/v1/agents/tricky-agent-1`)).text();
    expect(text).toContain(`"agent_metadata":${TRICKY}`);
  });

  it('is sent as it is stored', async () => {
    const registration = `{"agent":{"agent_name":"tricky-agent-2","agent_metadata":${TRICKY}}}`;
    expect((await call('POST', '/api/v1/agents/initAgent', registration)).status).toBe(200);
    const outcome = await grpc.call(methodNamed('AgentService.GetAgent'), { agent_name: 'tricky-agent-2' });
    if (!outcome.ok) throw new Error(outcome.reason);
    const { agent_metadata } = outcome.reply.agent as { agent_metadata: unknown };
    expect(JSON.stringify(agent_metadata)).toBe(TRICKY);
  });

  it('hides nothing from a control', async () => {
    const seed = seeder(call);
    await seed.linked('tricky-agent-3', 'sees-all', denyWord('secret'));
    const evaluation = { agent_name: 'tricky-agent-3', stage: 'pre' };
    const step = `{"type":"tool","name":"x","input":${HIDING}}`;
    for (const form of [{ step: JSON.parse(step) }, { step_json: step }]) {
      const outcome = await grpc.call(methodNamed('EvaluationService.Evaluate'), { ...evaluation, ...form });
      expect(outcome).toMatchObject({ ok: true, reply: { is_safe: false } });
    }
    // The Connect client would lose the member itself, so its JSON is written by hand.
    const connect = await call(
      'POST',
      '/enforcement.v1.EvaluationService/Evaluate',
      `{"agentName":"tricky-agent-3","stage":"STAGE_PRE","step":${step}}`,
    );
    expect(connect).toMatchObject({ status: 200, body: { matches: [{ controlName: 'sees-all' }] } });
  });

  it('may be a configuration with integers beyond 2^53, which are returned as text', async () => {
    const config = '{"pattern":"x","big":[12345678901234567890]}';
    const condition = `{"selector":{},"evaluator":{"name":"regex","config":${config}}}`;
    const body = `{"name":"big-config","data":{"execution":"server","condition":${condition},"action":{"decision":"deny"}}}`;
    const { control_id } = (await call('PUT', '/api/v1/controls', body)).body;
    const outcome = await grpc.call(methodNamed('ControlService.GetControlData'), { control_id });
    expect(outcome).toMatchObject({
      ok: true,
      reply: {
        data: { condition: { evaluator: { config: { pattern: 'x', big: ['12345678901234567890'] } } } },
      },
    });
  });
});
