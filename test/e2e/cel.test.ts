import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import type { JsonObject } from '../../packages/exact-json/src/index.js';
import { FILLER, startedThread } from '../serve/heavy-steps/heavy-steps.support.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { describeService, describeServiceOnSqlite } from '../support/service-suite.js';

const CONTROLS = '/api/v1/controls';
const INSPECT = '/api/v1/controls/inspect-expression';
const EXPLAIN = '/api/v1/evaluation/explain';
const FIELD = 'data.condition.evaluator.config.expression';
const PAY = {
  type: 'tool',
  name: 'pay',
  input_schema: {
    type: 'object',
    properties: {
      amount: { type: 'number' },
      to: { type: 'string', description: 'Account of the receiver.' },
    },
    required: ['amount'],
    additionalProperties: false,
  },
};
const OPEN = {
  type: 'tool',
  name: 'note',
  input_schema: { type: 'object', properties: { text: { type: 'string' } } },
};
const BARE = { type: 'tool', name: 'bare' };

interface Config {
  readonly expression: string;
  readonly on_missing?: string;
}

function cel(config: Config, more: JsonObject = {}): Record<string, unknown> {
  return {
    execution: 'server',
    condition: { selector: {}, evaluator: { name: 'cel', config } },
    action: { decision: 'deny' },
    ...more,
  };
}

const pay = (agent: string, input: JsonObject, more: object = {}) => ({
  agent_name: agent,
  stage: 'pre',
  step: { type: 'tool', name: 'pay', input, ...more },
});

const of = (name: string): JsonObject => ({ scope: { step_names: [name] } });

describeService('controls with expressions', ({ call, seed, service }) => {
  const safe = async (body: object): Promise<boolean | undefined> =>
    (await call('POST', '/api/v1/evaluation', body)).body.is_safe;
  beforeAll(async () => {
    await seed.agent('typed-agent-1', { steps: [PAY, OPEN, BARE] });
  });

  it('decide steps', async () => {
    await seed.linked(
      'paying-agent-1',
      'large-payments',
      cel({
        expression: "name == 'pay' && input.amount > 1000 && !input.to.endsWith('@example.com')",
      }),
    );
    const asked = (input: JsonObject) => safe(pay('paying-agent-1', input));
    expect(await asked({ amount: 1_001, to: 'a@other.org' })).toBe(false);
    expect(await asked({ amount: 1_001, to: 'a@example.com' })).toBe(true);
    expect(await asked({ amount: 1, to: 'a@other.org' })).toBe(true);
    // A missing member is an error of the check, and a failed deny control denies.
    expect(await asked({ to: 'a@other.org' })).toBe(false);
  });

  it('read the metadata of the agent as they are now', async () => {
    const register = (agent_metadata: JsonObject) =>
      call('POST', '/api/v1/agents/initAgent', { agent: { agent_name: 'known-agent-1', agent_metadata } });
    await register({ team: 'red' });
    const id = await seed.control('teams', cel({ expression: "agent.metadata.team != 'red'" }));
    await seed.link('known-agent-1', id);
    expect(await safe(pay('known-agent-1', {}))).toBe(true);
    await register({ team: 'blue' });
    expect(await safe(pay('known-agent-1', {}))).toBe(false);
    await call('PUT', `${CONTROLS}/${id}/data`, {
      data: cel({ expression: "agent.name == 'known-agent-1' && agent.metadata.team == 'red'" }),
    });
    expect(await safe(pay('known-agent-1', {}))).toBe(true);
  });

  it.each([
    ['a member that no schema has', 'input.amuont > 1', of('pay'), 'at character 7', '"amount"'],
    ['a comparison of a text with a number', "input.amount == 'much'", of('pay'), 'at character ', ''],
    ['a result that is no boolean', 'input.amount', of('pay'), 'at character 1', ''],
  ])('are refused with %s', async (what, expression, more, place, meant) => {
    const name = `refused-${what.replaceAll(/[^a-z]+/g, '-')}`;
    const { status, body } = await call('PUT', CONTROLS, { name, data: cel({ expression }, more) });
    expect(status).toBe(422);
    expect(body.errors).toMatchObject([{ field: FIELD, code: 'expression_type' }]);
    expect(body.errors[0].message).toContain(place);
    expect(body.errors[0].message).toContain(meant);
    const checked = await call('POST', `${CONTROLS}/validate`, { data: cel({ expression }, more) });
    expect([checked.status, checked.body.errors]).toEqual([422, body.errors]);
    expect(
      (await call('PUT', CONTROLS, { name, data: cel({ expression: 'input.amount > 1' }, more) })).status,
    ).toBe(200);
  });

  it.each([
    ['names none of the members of an open schema', "input.txet == 'x'", of('note'), 'expression_type'],
    ['reads a step without a schema', 'input.amount > 1', of('bare'), 'untyped_expression'],
    ['reads a step that no agent has registered', 'input.amount > 1', of('other'), 'untyped_expression'],
    ['is true for every step', 'true || input.amount > 1', of('pay'), 'always_matches'],
  ])('have a warning where one %s', async (_what, expression, more, code) => {
    const { status, body } = await call('POST', `${CONTROLS}/validate`, { data: cel({ expression }, more) });
    expect(status).toBe(200);
    const codes = body.warnings.map((warning: { code: string }) => warning.code);
    expect(codes).toContain(code);
  });

  it('accept a member that one of several steps has', async () => {
    const data = cel(
      { expression: 'input.amount > 1 || input.text == "x"' },
      { scope: { step_names: ['pay', 'note'] } },
    );
    expect(await call('POST', `${CONTROLS}/validate`, { data })).toMatchObject({
      status: 200,
      body: { warnings: [] },
    });
  });

  it('stay as they are, and can be changed, when a schema is registered that contradicts them', async () => {
    const data = cel({ expression: 'input.total > 1', on_missing: 'no_match' }, of('sum'));
    const id = await seed.control('before-the-schema', data);
    const sum = {
      type: 'tool',
      name: 'sum',
      input_schema: { type: 'object', properties: { a: {} }, additionalProperties: false },
    };
    await seed.agent('later-agent-1', { steps: [sum] });
    await seed.link('later-agent-1', id);
    expect((await call('GET', `${CONTROLS}/${id}/data`)).status).toBe(200);
    const changed = await call('PUT', `${CONTROLS}/${id}/data`, {
      data: { ...data, description: 'changed' },
    });
    expect(changed.status).toBe(200);
    expect(changed.body.warnings).toMatchObject([{ code: 'expression_type', field: FIELD }]);
    const explained = await call('POST', EXPLAIN, {
      agent_name: 'later-agent-1',
      stage: 'pre',
      step: { type: 'tool', name: 'sum', input: {} },
    });
    expect(explained.body.controls[0].warnings).toMatchObject([{ code: 'expression_type', field: FIELD }]);
    const other = { data: cel({ expression: 'input.totals > 1' }, of('sum')) };
    expect((await call('PUT', `${CONTROLS}/${id}/data`, other)).status).toBe(422);
  });

  it('are explained by the values of their parts', async () => {
    await seed.linked(
      'explained-agent-1',
      'explained-expression',
      cel({
        expression: "input.amount > 1000 && input.password != '' && input.card == 'x'",
      }),
    );
    const { status, body } = await call(
      'POST',
      EXPLAIN,
      pay('explained-agent-1', { amount: 2_000, password: 'hunter2', card: '4111111111111111' }),
    );
    expect(status).toBe(200);
    const { condition } = body.controls[0];
    expect(condition.expression_values).toContainEqual({
      start: 0,
      end: 12,
      text: 'input.amount',
      evaluated: true,
      value: { type: 'number', size: null, text: '2000', shortened: false },
      error: null,
    });
    expect(condition.expression_values[0]).toMatchObject({
      start: 0,
      end: 64,
      value: { type: 'boolean', text: 'false' },
    });
    const text = JSON.stringify(condition);
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('4111111111111111');
  });

  it('decide large steps, with what they read of the agent and the time', async () => {
    const agent_metadata = { team: 'red' };
    await call('POST', '/api/v1/agents/initAgent', {
      agent: { agent_name: 'large-agent-1', agent_metadata },
    });
    await startedThread(service, 'large-agent-1');
    const expression =
      "agent.metadata.team == 'red' && now.getFullYear() > 2000 && stage == 'pre' && input.text.contains('needle')";
    await seed.link('large-agent-1', await seed.control('needles', cel({ expression })));
    for (const [text, isSafe] of [
      [`${FILLER} needle`, false],
      [FILLER, true],
    ] as const) {
      const { body } = await call('POST', '/api/v1/evaluation', pay('large-agent-1', { text }));
      expect(body).toMatchObject({ is_safe: isSafe, errors: [] });
    }
  });
});

describeServiceOnSqlite('an expression that is not accepted', ({ call, seed, service }) => {
  const WRONG: [string, Config, string][] = [
    ['is no CEL', { expression: 'input.amount >' }, 'at character '],
    ['has an unknown variable', { expression: 'inptu.amount > 1' }, 'at character 1: '],
    ['has an unknown function', { expression: "name.startWith('a')" }, 'at character '],
    ['compares a text with a number', { expression: 'name > 3' }, 'at character '],
    ['has a result that is no boolean', { expression: 'size(name)' }, 'at character '],
    ['has too many characters', { expression: `name == '${'x'.repeat(5_000)}'` }, 'at character '],
    ['has an unknown outcome', { expression: 'true', on_missing: 'skip' }, ''],
  ];

  it.each(WRONG)(
    'has an error with its place when it %s, over REST and gRPC',
    async (_what, config, place) => {
      const { status, body } = await call('PUT', CONTROLS, { name: 'wrong', data: cel(config) });
      expect(status).toBe(422);
      expect(body.errors[0].field).toMatch(/^data\.condition\.evaluator\./);
      expect(body.errors[0].message).toContain(place);
      for (const protocol of RPC_PROTOCOLS) {
        const client = createClient(ControlService, rpcTransport(protocol, service.url));
        const error = await client
          .createControl({
            name: 'wrong',
            data: {
              content: {
                case: 'definition',
                value: {
                  execution: 1,
                  condition: { selector: {}, evaluator: { name: 'cel', config: { ...config } } },
                  action: { decision: 1 },
                },
              },
            },
          } as never)
          .catch((thrown: unknown) => ConnectError.from(thrown));
        expect(error).toMatchObject({ code: Code.InvalidArgument });
      }
    },
  );

  it('is inspected as it is typed', async () => {
    await seed.agent('typed-agent-2', { steps: [PAY, BARE] });
    const inspect = async (body: object) => (await call('POST', INSPECT, body)).body;
    expect(await inspect({ expression: 'input.', cursor: 6, scope: { step_names: ['pay'] } })).toMatchObject({
      completions: expect.arrayContaining([
        expect.objectContaining({ label: 'amount', kind: 'member' }),
        expect.objectContaining({ label: 'to', documentation: 'Account of the receiver.' }),
      ]),
      replace_from: 6,
      schemas_known: true,
    });
    expect(await inspect({ expression: 'input.amuont > 1', scope: { step_names: ['pay'] } })).toMatchObject({
      problems: [{ code: 'unknown_member', start: 6, end: 12, suggestion: 'amount', error: true }],
      result_type: 'bool',
      reads: ['input.amuont'],
      completions: [],
      schemas_known: true,
    });
    expect(await inspect({ expression: 'input.amuont > 1' })).toMatchObject({
      problems: [{ code: 'unknown_member', error: false }],
      schemas_known: false,
    });
    expect(
      await inspect({ expression: 'value > 1', selector_path: 'input.to', scope: { step_names: ['pay'] } }),
    ).toMatchObject({
      problems: [{ code: 'type', error: true }],
    });
    expect(await inspect({ expression: '(' })).toMatchObject({ problems: [{ code: 'syntax', error: true }] });
    expect((await call('POST', INSPECT, { expression: 7 })).status).toBe(422);
  });
});
