import { expect, it } from 'vitest';
import { methodNamed, PROTOCOLS } from '../support/protocol-clients.js';
import { denyWord } from '../support/seed.js';
import { describeServiceOnSqlite } from '../support/service-suite.js';
import { errorOfReply, errorOfRpc } from '../support/told-errors.js';

const CONTROLS = '/api/v1/controls';
const VALIDATE = `${CONTROLS}/validate`;
const EVENTS = '/api/v1/observability/events';
const AGENT = 'mistaken-agent-01';

const leaf = (name: string, config: object) => ({ selector: { path: 'input' }, evaluator: { name, config } });
const checking = (name: string, config: object) => denyWord('x', { condition: leaf(name, config) });
const steering = (kind: 'and' | 'or') =>
  denyWord('x', { condition: { [kind]: [leaf('list', { values: ['x'] })] }, action: { decision: 'steer' } });
const DRAFT = {
  template: {
    parameters: { words: { type: 'string_list', label: 'Words' } },
    definition_template: checking('list', { values: { $param: 'words' } }),
  },
};

/** Something that newcomers get wrong, and what they are told. */
interface Mistake {
  readonly what: string;
  readonly rest: readonly [method: string, path: string, body: unknown];
  /** The same over gRPC; where binary messages cannot say it, over Connect with JSON: the RPC and its text. */
  readonly rpc: readonly [name: string, input: object] | readonly [name: string, text: string];
  readonly told: 'as an error' | 'as a warning';
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

function ofData(
  what: string,
  data: object,
  told: Mistake['told'],
  field: string,
  code: string,
  message: string,
): Mistake {
  const rpc = ['ControlService.ValidateControl', { data }] as const;
  return { what, rest: ['POST', VALIDATE, { data }], rpc, told, field, code, message };
}

const MISTAKES: Mistake[] = [
  {
    what: 'agent_name at the top of initAgent',
    rest: ['POST', '/api/v1/agents/initAgent', { agent_name: AGENT }],
    rpc: ['AgentService.InitAgent', {}],
    told: 'as an error',
    field: 'agent',
    code: 'missing',
    message: 'Field required: an object such as {"agent_name": "billing-bot-01"}',
  },
  {
    what: 'a misspelled member',
    rest: ['POST', VALIDATE, { data: { ...denyWord('x'), scop: {} } }],
    rpc: [
      'ControlService.ValidateControl',
      `{"data": {"execution": "EXECUTION_SERVER", "action": {"decision": "DECISION_DENY"}, "scop": {},
        "condition": {"selector": {}, "evaluator": {"name": "regex", "config": {"pattern": "x"}}}}}`,
    ],
    told: 'as a warning',
    field: 'data.scop',
    code: 'unknown_member',
    message: 'unknown member; did you mean scope?',
  },
  ofData(
    'the evaluator regexp',
    checking('regexp', { pattern: 'x' }),
    'as a warning',
    'data.condition.evaluator.name',
    'unknown_evaluator',
    'The service has no evaluator "regexp"; did you mean regex?',
  ),
  ofData(
    'look-behind',
    checking('regex', { pattern: '(?<=a)b' }),
    'as an error',
    'data.condition.evaluator.pattern',
    'value_error',
    'Invalid regex pattern: RE2 has no look-behind (?<=…)',
  ),
  ...(['and', 'or'] as const).map((kind) =>
    ofData(
      `steer on ${kind} without context`,
      steering(kind),
      'as an error',
      'data',
      'value_error',
      'action.steering_context: required for steer when the condition is and, or, not',
    ),
  ),
  ofData(
    'a template without one of its values',
    DRAFT,
    'as a warning',
    'template_values.words',
    'incomplete_template',
    'Stored as disabled draft: template_values.words is missing',
  ),
  {
    what: 'a PATCH of what cannot be patched',
    rest: ['PATCH', `${CONTROLS}/3`, { template_values: {} }],
    rpc: ['ControlService.UpdateControl', '{"controlId": 3, "templateValues": {}, "template_values": {}}'],
    told: 'as an error',
    field: 'template_values',
    code: 'extra_forbidden',
    message: 'template_values cannot be patched; use PUT /controls/3/data',
  },
  {
    what: 'a filter that does not exist',
    rest: ['POST', `${EVENTS}/query`, { agent: AGENT }],
    rpc: ['ObservabilityService.QueryEvents', `{"agent": "${AGENT}"}`],
    told: 'as an error',
    field: 'agent',
    code: 'extra_forbidden',
    message: 'unknown filter; did you mean agent_name?',
  },
  {
    what: 'an evaluation without a step',
    rest: ['POST', '/api/v1/evaluation', { agent_name: AGENT, stage: 'pre' }],
    rpc: ['EvaluationService.Evaluate', { agent_name: AGENT, stage: 'pre' }],
    told: 'as an error',
    field: 'step',
    code: 'missing',
    message: 'Field required: this member is missing',
  },
];

describeServiceOnSqlite('newcomers are told', ({ call, service }) => {
  const connectPath = (name: string) => `/enforcement.v1.${name.replace('.', '/')}`;

  it.each(MISTAKES)('$told of $what over REST', async ({ rest, told, field, code, message }) => {
    const reply = await call(...rest);
    const expected = { field, code, message: expect.stringContaining(message) };
    if (told === 'as a warning') {
      expect(reply.status).toBe(200);
      expect(reply.body.warnings).toEqual([expected]);
    } else {
      expect(errorOfReply(reply)).toMatchObject({ status: 422, items: [expected] });
    }
  });

  it.each(MISTAKES)('$told of $what over gRPC or Connect', async (mistake) => {
    const { rpc, told, field, code, message } = mistake;
    const [name, input] = rpc;
    const expected = { field, code, message: expect.stringContaining(message) };
    if (typeof input === 'string') {
      const reply = await call('POST', connectPath(name), input);
      if (told === 'as a warning')
        expect(reply).toMatchObject({ status: 200, body: { warnings: [expected] } });
      else {
        expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_argument' } });
        const { fieldViolations } = reply.body.details.find(
          ({ type }: { type: string }) => type === 'google.rpc.BadRequest',
        ).debug;
        const violation = { field, reason: code.toUpperCase(), description: expected.message };
        expect(fieldViolations).toContainEqual(violation);
      }
    } else if (told === 'as a warning') {
      const client = PROTOCOLS['gRPC (Connect transport)'](service.url);
      const outcome = await client.call(methodNamed(name), input);
      client.close();
      expect(outcome).toMatchObject({ ok: true, reply: { warnings: [expected] } });
    } else {
      const error = await errorOfRpc(service.url, name, input);
      expect(error).toMatchObject({ status: 'InvalidArgument', items: [expected] });
      expect(error.detail).toContain(`${field}: `);
      expect(error.detail).toContain(message);
    }
  });

  it.each<[string, object, string, string]>([
    ['steps', { steps: ['search'] }, 'steps[0]', 'must be an object with type and name'],
    ['evaluators', { evaluators: ['tone'] }, 'evaluators[0]', 'must be an object with name'],
    ['an agent', { agent: AGENT }, 'agent', 'must be an object such as {"agent_name": "billing-bot-01"}'],
  ])('what must stand in place of a text for %s', async (_, more, field, message) => {
    const reply = await call('POST', '/api/v1/agents/initAgent', { agent: { agent_name: AGENT }, ...more });
    expect(errorOfReply(reply)).toMatchObject({
      status: 422,
      items: [{ field, code: 'model_attributes_type', message }],
    });
  });

  const secret = 'secret-'.repeat(20_000);
  it.each<[string, string, string, string]>([
    ['a trailing comma', '{"name": "x", "data": {"tags": []},}', '[35]', 'line 1, column 36'],
    ['a comma on another line', '{"name": "é😀",\r\n  "data": {},\n }', '[31]', 'line 3, column 2'],
    ['a missing end', '{"name": "x"', '[12]', 'line 1, column 13'],
    ['a large body', `{"name": "${secret}",\n "data": ${secret}}`, `[${140_022}]`, 'line 2, column 10'],
  ])('where the JSON ends that has %s, and nothing of its content', async (_, text, field, place) => {
    const reply = await call('PUT', CONTROLS, text);
    const message = `the body is not JSON at ${place}`;
    expect(errorOfReply(reply)).toMatchObject({
      status: 422,
      items: [{ field, code: 'json_invalid', message }],
    });
    expect(JSON.stringify(reply.body)).not.toContain('secret-');
    const connect = await call('POST', connectPath('ControlService.CreateControl'), text);
    expect(connect).toMatchObject({
      status: 400,
      body: { code: 'invalid_argument', message: `the request message is not JSON at ${place}` },
    });
  });

  it('where a step as JSON text ends over gRPC', async () => {
    const error = await errorOfRpc(service.url, 'EvaluationService.Evaluate', {
      agent_name: AGENT,
      stage: 'pre',
      step_json: '{"type": "llm",\n "name": "answer",}',
    });
    const message = 'not JSON at line 2, column 19';
    expect(error).toMatchObject({ items: [{ field: 'step_json', code: 'json_invalid', message }] });
  });
});
