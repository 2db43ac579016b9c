import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { EvaluationService } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { restClient } from '../support/http.js';
import { RPC_PROTOCOLS, type RpcProtocol, rpcTransport } from '../support/rpc-transports.js';
import { seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';

const AGENT = 'paying-agent';
/** The control reads 5; a tool whose JSON reader keeps the first member pays 5000. */
const STEP = '{"type":"tool","name":"pay","input":{"amount":5000,"amount":5}}';
const EVALUATION = `{"agent_name":"${AGENT}","stage":"pre","step":${STEP}}`;
const ITEM = { resource: 'Request', code: 'duplicate_member' };

const atMost1000 = (path: string) => ({
  execution: 'server',
  condition: {
    selector: { path },
    evaluator: { name: 'json', config: { field_constraints: { amount: { max: 1000 } } } },
  },
  action: { decision: 'deny' },
});

async function seeded(environment: Record<string, string> = {}): Promise<TestService> {
  const service = await startService(environment);
  const seed = seeder(restClient(service.url));
  await seed.linked(AGENT, 'at-most-1000', atMost1000('input'));
  return service;
}

function evaluateText(protocol: RpcProtocol, url: string, text = STEP) {
  return createClient(EvaluationService, rpcTransport(protocol, url)).evaluate({
    agentName: AGENT,
    stage: Stage.PRE,
    stepForm: { case: 'stepJson', value: new TextEncoder().encode(text) },
  });
}

describe('a member that a request has twice in an object', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await seeded();
  });
  afterAll(() => service.stop());

  it.each([
    ['POST', '/api/v1/evaluation', EVALUATION, 'step.input.amount'],
    [
      'POST',
      '/api/v1/evaluation/batch',
      `{"evaluations":[${EVALUATION}]}`,
      'evaluations[0].step.input.amount',
    ],
    ['POST', '/api/v1/evaluation/explain', EVALUATION, 'step.input.amount'],
    ['PUT', '/api/v1/policies', '{"name":"a","na\\u006de":"b"}', 'name'],
    ['PUT', '/api/v1/controls', '{"name":"a","data":{"enabled":true,"enabled":false}}', 'data.enabled'],
    ['POST', '/api/v1/agents/initAgent', '{"agent":{},"steps":[],"steps":[]}', 'steps'],
    ['POST', '/api/v1/observability/events', '{"events":[{"a":1,"a":2}]}', 'events[0].a'],
    ['POST', '/api/v1/observability/events', `{"events":[{"a":1,"a":"${'x'.repeat(5000)}"}]}`, 'events[0].a'],
    ['POST', '/api/login', '{"api_key":"one","api_key":"two"}', 'api_key'],
  ])('is refused by %s %s, which names it', async (verb, path, text, field) => {
    const { status, body } = await restClient(service.url)(verb, path, text);
    expect([status, body.error_code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(body.errors).toEqual([{ ...ITEM, field, message: expect.stringContaining('more than once') }]);
  });

  it.each(RPC_PROTOCOLS)('is refused in a step that is JSON text over %s', async (protocol) => {
    const error = ConnectError.from(await evaluateText(protocol, service.url).catch((reason) => reason));
    expect([error.code, error.rawMessage]).toEqual([
      Code.InvalidArgument,
      expect.stringContaining('input.amount'),
    ]);
  });

  it('is refused by Connect with JSON', async () => {
    const url = '/enforcement.v1.EvaluationService/Evaluate';
    const text = `{"agentName":"${AGENT}","stage":"STAGE_PRE","step":${STEP}}`;
    expect((await restClient(service.url)('POST', url, text)).status).toBe(400);
  });

  it('is an error of a check that reads a text as JSON, which denies the step', async () => {
    const agent = 'writing-agent';
    const seed = seeder(restClient(service.url));
    await seed.linked(agent, 'written-at-most-1000', atMost1000('output'));
    const verdictOn = async (output: string) => {
      const step = { type: 'llm', name: 'answer', input: '', output };
      const request = { agent_name: agent, stage: 'post', step };
      return (await restClient(service.url)('POST', '/api/v1/evaluation', request)).body;
    };
    expect(await verdictOn('{"amount":5}')).toMatchObject({ is_safe: true });
    expect(await verdictOn('{"amount":5000,"amount":5}')).toMatchObject({
      is_safe: false,
      errors: [{ control_name: 'written-at-most-1000' }],
    });
  });

  it('is no member of another object, and nothing in a string', async () => {
    const step =
      '{"type":"tool","name":"pay","input":{"amount":5,"of":[{"amount":5000},{"amount":"\\"amount\\":1"}]}}';
    const text = `{"agent_name":"${AGENT}","stage":"pre","step":${step}}`;
    const { status, body } = await restClient(service.url)('POST', '/api/v1/evaluation', text);
    expect([status, body.is_safe]).toEqual([200, true]);
    expect((await evaluateText('gRPC', service.url, step)).isSafe).toBe(true);
  });
});

it('counts as the last of them with SERVICE_DUPLICATE_MEMBERS=last, which the log warns of', async () => {
  const service = await seeded({ SERVICE_DUPLICATE_MEMBERS: 'last' });
  onTestFinished(() => service.stop());
  const call = restClient(service.url);
  const { status, body } = await call('POST', '/api/v1/evaluation', EVALUATION);
  expect([status, body.is_safe]).toEqual([200, true]);
  expect((await evaluateText('gRPC', service.url)).isSafe).toBe(true);
  const control = await call('PUT', '/api/v1/controls', {
    name: 'once',
    data: atMost1000('input'),
  });
  expect(control.status).toBe(200);
  const large = `{"events":[{"control_execution_id":"a","control_execution_id":"b","padding":"${'x'.repeat(5000)}"}]}`;
  const events = await call('POST', '/api/v1/observability/events', large);
  expect(JSON.stringify(events.body)).not.toContain('duplicate_member');
});
