import { once } from 'node:events';
import { connect } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { withExactSteps } from '../../../src/serve/wire/exact-steps.js';
import { restClient } from '../../support/http.js';
import { seeder } from '../../support/seed.js';
import { suiteService } from '../../support/service-suite.js';

const AGENT = 'exact-agent-001';
const DENIED = ['9007199254740993', '-9007199254740993', '0.1000000000000000055', '12345678901234567890'];
/** The doubles that a reader of doubles takes the denied ones for. */
const ROUNDED = ['9007199254740992', '-9007199254740992', '0.1', '12345678901234567168'];

const evaluation = (number: string) =>
  `{"agentName":"${AGENT}","stage":"STAGE_PRE","step":{"type":"tool","name":"pay","input":{"n":${number},"t":"9007199254740993"}}}`;

describe('steps in JSON of protobuf', () => {
  const service = suiteService();
  beforeAll(async () => {
    // The numbers stand in the text of the request as they are.
    const schema = `{"properties":{"n":{"not":{"enum":[${DENIED}]}}}}`;
    const condition = `{"selector":{"path":"input"},"evaluator":{"name":"json","config":{"json_schema":${schema}}}}`;
    const data = `{"execution":"server","condition":${condition},"action":{"decision":"deny"}}`;
    const call = restClient(service.url);
    await seeder(call).agent(AGENT);
    const created = await fetch(`${service.url}/api/v1/controls`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: `{"name":"exact-numbers","data":${data}}`,
    });
    const { control_id: id } = (await created.json()) as { control_id: number };
    expect((await call('POST', `/api/v1/agents/${AGENT}/controls/${id}`)).status).toBe(200);
  });

  async function unary(method: string, body: string): Promise<unknown> {
    const reply = await fetch(`${service.url}/enforcement.v1.EvaluationService/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect([reply.status, method]).toEqual([200, method]);
    return reply.json();
  }

  /** The replies to messages in envelopes on one stream of HTTP/2. */
  async function streamed(type: string, method: string, messages: readonly string[]): Promise<unknown[]> {
    const session = connect(service.url);
    try {
      const stream = session.request({
        ':method': 'POST',
        ':path': `/enforcement.v1.EvaluationService/${method}`,
        'content-type': type,
        ...(type.includes('grpc') ? { te: 'trailers' } : { 'connect-protocol-version': '1' }),
      });
      for (const message of messages) {
        const prefix = Buffer.alloc(5);
        prefix.writeUInt32BE(Buffer.byteLength(message), 1);
        stream.write(Buffer.concat([prefix, Buffer.from(message)]));
      }
      stream.end();
      const [head] = (await once(stream, 'response')) as [Record<string, unknown>];
      expect(head[':status']).toBe(200);
      let bytes = await buffer(stream);
      const replies: unknown[] = [];
      while (bytes.length > 0) {
        const end = 5 + bytes.readUInt32BE(1);
        if (bytes[0] === 0) replies.push(JSON.parse(bytes.toString('utf8', 5, end)));
        bytes = bytes.subarray(end);
      }
      return replies;
    } finally {
      session.close();
    }
  }

  const safe = (reply: unknown) => (reply as { isSafe?: boolean }).isSafe === true;
  const numbers = [...DENIED, ...ROUNDED];
  const expected = numbers.map((number) => [number, !DENIED.includes(number)]);

  it('keep their numbers in Evaluate, EvaluateBatch and Explain of Connect', async () => {
    const found: unknown[] = [];
    for (const number of numbers) found.push([number, safe(await unary('Evaluate', evaluation(number)))]);
    expect(found).toEqual(expected);
    const batch = (await unary('EvaluateBatch', `{"evaluations":[${numbers.map(evaluation)}]}`)) as {
      results: { verdict: unknown }[];
    };
    expect(batch.results.map(({ verdict: one }, index) => [numbers[index], safe(one)])).toEqual(expected);
    for (const number of numbers) {
      const { verdict } = (await unary('Explain', evaluation(number))) as { verdict: unknown };
      expect([number, safe(verdict)]).toEqual([number, !DENIED.includes(number)]);
    }
  });

  it.each(['application/connect+json', 'application/grpc+json'])(
    'keep them in a stream of %s',
    async (type) => {
      const messages = numbers.map(
        (number, id) => `{"id":"${id + 1}","evaluations":[${evaluation(number)}]}`,
      );
      const replies = (await streamed(type, 'EvaluateStream', messages)) as {
        id: string;
        results: { verdict: unknown }[];
      }[];
      const byId = new Map(replies.map(({ id, results }) => [id, safe(results[0]?.verdict)]));
      expect(numbers.map((number, id) => [number, byId.get(String(id + 1))])).toEqual(expected);
    },
  );

  it('keep them in a call of gRPC', async () => {
    for (const number of numbers) {
      const [reply] = await streamed('application/grpc+json', 'Evaluate', [evaluation(number)]);
      expect([number, safe(reply)]).toEqual([number, !DENIED.includes(number)]);
    }
  });
});

describe('the message with exact steps', () => {
  const exact = (text: string) => {
    const other = withExactSteps(Buffer.from(text));
    return other && JSON.parse(Buffer.from(other).toString());
  };

  it('is the one that was sent if it keeps its numbers, has no step as a message, has both forms, or is invalid', () => {
    for (const text of [
      evaluation('1.5'),
      evaluation('9007199254740991'),
      '{"step":{"input":"9007199254740993"}}',
      '{"minRevision":9007199254740993}',
      '{"step":{"input":9007199254740993},"stepJson":"e30="}',
      '{"step":{"input":9007199254740993},"step_json":"e30="}',
      '{"step":9007199254740993}',
      '{"step":{"input":9007199254740993}',
      '[9007199254740993]',
      '{"step":{"input":9007199254740993,"input":1}}',
    ])
      expect([text, exact(text)]).toEqual([text, undefined]);
  });

  it('has the step as text, and all else as it was', () => {
    const { stepJson, ...others } = exact(evaluation('9007199254740993'));
    expect(Buffer.from(stepJson, 'base64').toString()).toContain('"n":9007199254740993');
    expect(others).toEqual({ agentName: AGENT, stage: 'STAGE_PRE' });
  });
});
