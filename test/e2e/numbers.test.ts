import { beforeAll, describe, expect, it } from 'vitest';
import { methodNamed } from '../support/protocol-clients.js';
import { describeService, suiteClient } from '../support/service-suite.js';

const EVALUATE = methodNamed('EvaluationService.Evaluate');
const AGENT = 'agent-of-numbers';

/** Controls of one member of the input, by name. */
const CONTROLS: Readonly<Record<string, string>> = {
  whole: `{"name":"regex","config":{"pattern":"^12345678901234567890$"}}`,
  card: `{"name":"regex","config":{"pattern":"\\\\b4111111111111111\\\\b"}}`,
  fraction: `{"name":"regex","config":{"pattern":"^0\\\\.12345678901234567890123$"}}`,
  listed: `{"name":"list","config":{"values":[0.12345678901234567890123,100000000000000000000]}}`,
  limited: `{"name":"json","config":{"json_schema":{"maximum":1000.00000000000000000000001},"allow_invalid_json":true}}`,
};

describeService('numbers', ({ service }) => {
  const post = async (method: string, path: string, body: string) => {
    const reply = await fetch(`${service.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(method === 'GET' ? {} : { body }),
    });
    return { status: reply.status, text: await reply.text() };
  };
  const ids = new Map<string, number>();
  const grpc = suiteClient(service, 'gRPC (grpc-js)');
  beforeAll(async () => {
    await post('POST', '/api/v1/agents/initAgent', `{"agent":{"agent_name":"${AGENT}"}}`);
    for (const [name, evaluator] of Object.entries(CONTROLS)) {
      const path = name === 'limited' ? 'input' : 'input.n';
      const data = `{"execution":"server","condition":{"selector":{"path":"${path}"},"evaluator":${evaluator}},"action":{"decision":"observe"}}`;
      const created = await post('PUT', '/api/v1/controls', `{"name":"sees-${name}","data":${data}}`);
      expect(created).toMatchObject({ status: 200 });
      const id = (JSON.parse(created.text) as { control_id: number }).control_id;
      ids.set(name, id);
      expect(await post('POST', `/api/v1/agents/${AGENT}/controls/${id}`, '{}')).toMatchObject({
        status: 200,
      });
    }
  });

  const stepOf = (number: string) => `{"type":"llm","name":"x","input":{"n":${number}}}`;
  const overRest = async (number: string) => {
    const body = `{"agent_name":"${AGENT}","stage":"pre","step":${stepOf(number)}}`;
    const reply = await post('POST', '/api/v1/evaluation', body);
    return { ...reply, body: JSON.parse(reply.text) };
  };
  const namesOf = (matches: readonly { control_name: string }[]) =>
    matches.map(({ control_name: name }) => name.replace('sees-', '')).sort();

  describe('in steps', () => {
    it.each<[string, string[]]>([
      ['12345678901234567890.0', ['whole']],
      ['1.2345678901234567890e19', ['whole']],
      ['12345678901234567891.0', []],
      ['0.12345678901234567890123', ['fraction', 'listed']],
      ['0.12345678901234567890124', []],
      ['1e20', ['listed']],
      ['100000000000000000000.000', ['listed']],
      ['4111111111111111.5', ['card']],
      ['4111111111111111.25', ['card']],
      ['4.111111111111111e15', ['card']],
      ['[0.00,4111111111111111.00000]', ['card']],
    ])('keep every digit of %s over REST and gRPC', async (number, expected) => {
      const rest = await overRest(number);
      expect(rest.status).toBe(200);
      expect(namesOf(rest.body.matches)).toEqual(expected);
      const outcome = await grpc.call(EVALUATE, {
        agent_name: AGENT,
        stage: 'pre',
        step_json: stepOf(number),
      });
      if (!outcome.ok) throw new Error(JSON.stringify(outcome));
      expect(namesOf(outcome.reply.matches as { control_name: string }[])).toEqual(expected);
    });

    it.each(['1e999', '-1e999', '1e400', '[{"amount":1e999}]'])(
      'are refused beyond the range: %s',
      async (number) => {
        const rest = await overRest(number);
        expect(rest.status).toBe(422);
        const body = `{"agent_name":"${AGENT}","stage":"pre","step":${stepOf(number)}}`;
        const at = body.indexOf(number.replace('[{"amount":', '').replace('}]', ''));
        expect(rest.body.errors[0]).toMatchObject({ field: `[${at}]`, code: 'finite_number' });
        const outcome = await grpc.call(EVALUATE, {
          agent_name: AGENT,
          stage: 'pre',
          step_json: stepOf(number),
        });
        expect(outcome).toMatchObject({
          ok: false,
          status: 'InvalidArgument',
          fields: ['step_json finite_number'],
        });
      },
    );

    it('that are doubles by nature look as they are printed', async () => {
      for (const n of [1e20, 4111111111111111, 4111111111111111.5]) {
        const step = { type: 'llm', name: 'x', input: { n } };
        const outcome = await grpc.call(EVALUATE, { agent_name: AGENT, stage: 'pre', step });
        if (!outcome.ok) throw new Error(JSON.stringify(outcome));
        expect(namesOf(outcome.reply.matches as { control_name: string }[])).toEqual([
          n === 1e20 ? 'listed' : 'card',
        ]);
      }
    });
  });

  it('in definitions are stored and shown with every digit', async () => {
    const listed = await post('GET', `/api/v1/controls/${ids.get('listed')}`, '');
    expect(listed.text).toContain('"values":[0.12345678901234567890123,100000000000000000000]');
    const limited = await post('GET', `/api/v1/controls/${ids.get('limited')}`, '');
    expect(limited.text).toContain('"maximum":1000.00000000000000000000001');
  });

  it('in the metadata of events are stored and shown with every digit', async () => {
    const event = {
      trace_id: 'a'.repeat(32),
      span_id: 'b'.repeat(16),
      agent_name: AGENT,
      control_id: ids.get('listed'),
      control_name: 'sees-listed',
      check_stage: 'pre',
      applies_to: 'llm_call',
      action: 'observe',
      matched: true,
    };
    const text = JSON.stringify(event).slice(0, -1);
    const metadata = '{"exact":0.12345678901234567890123,"whole":12345678901234567890,"list":[1e300]}';
    const sent = `{"events":[${text},"confidence":0.9999999999999999999999,"metadata":${metadata}}]}`;
    expect(await post('POST', '/api/v1/observability/events', sent)).toMatchObject({ status: 202 });
    const found = await post('POST', '/api/v1/observability/events/query', `{"agent_name":"${AGENT}"}`);
    expect(found.text).toContain('"exact":0.12345678901234567890123');
    expect(found.text).toContain('"whole":12345678901234567890');
    expect(found.text).toContain('"list":[1e+300]');
    expect(found.text).toContain('"confidence":1');
  });
});
