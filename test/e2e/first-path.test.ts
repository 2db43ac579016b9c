import { createClient } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { EvaluationService } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { restClient } from '../support/http.js';
import { suiteService } from '../support/service-suite.js';

describe('the main job over every protocol', () => {
  const service = suiteService();
  const { call } = service;
  beforeAll(async () => {
    const agent = await call('POST', '/api/v1/agents/initAgent', { agent: { agent_name: 'Billing-Bot-01' } });
    expect(agent).toMatchObject({ status: 200, body: { created: true } });
    const control = await call('PUT', '/api/v1/controls', {
      name: 'no-cards',
      data: {
        execution: 'server',
        condition: {
          selector: { path: 'input' },
          evaluator: { name: 'regex', config: { pattern: '\\d{16}' } },
        },
        action: { decision: 'deny' },
      },
    });
    expect(control).toMatchObject({ status: 200, body: { control_id: 1, warnings: [] } });
    const link = await call('POST', '/api/v1/agents/billing-bot-01/controls/1');
    expect(link).toMatchObject({ status: 200, body: { success: true } });
  });

  it('denies a bad step over REST', async () => {
    const call = restClient(service.url);
    const reply = await call('POST', '/api/v1/evaluation', {
      agent_name: 'billing-bot-01',
      step: { type: 'llm', name: 'answer', input: 'card 4111111111111111' },
      stage: 'pre',
    });
    expect(reply).toMatchObject({
      status: 200,
      body: { is_safe: false, matches: [{ control_name: 'no-cards' }] },
    });
  });

  const transports = {
    grpc: () => createGrpcTransport({ baseUrl: service.url }),
    'grpc-web over h1': () => createGrpcWebTransport({ baseUrl: service.url, httpVersion: '1.1' }),
    'connect over h1': () => createConnectTransport({ baseUrl: service.url, httpVersion: '1.1' }),
    'connect over h2': () => createConnectTransport({ baseUrl: service.url, httpVersion: '2' }),
  };
  for (const [name, transport] of Object.entries(transports)) {
    it(`denies a bad step over ${name}`, async () => {
      const client = createClient(EvaluationService, transport());
      const verdict = await client.evaluate({
        agentName: 'billing-bot-01',
        stage: Stage.PRE,
        stepForm: {
          case: 'stepJson',
          value: Buffer.from(JSON.stringify({ type: 'llm', name: 'x', input: '4111111111111111' })),
        },
      });
      expect(verdict.isSafe).toBe(false);
      expect(verdict.matches.map((match) => match.controlName)).toEqual(['no-cards']);
    });
  }

  it('answers a stream of evaluations over grpc', async () => {
    const client = createClient(EvaluationService, transports.grpc());
    async function* requests() {
      for (const id of ['a', 'b', 'c']) {
        yield {
          id,
          evaluations: [
            {
              agentName: id === 'b' ? 'no-such-agent' : 'billing-bot-01',
              stage: Stage.PRE,
              stepForm: {
                case: 'stepJson' as const,
                value: Buffer.from(JSON.stringify({ type: 'llm', name: 'x', input: 'hello' })),
              },
            },
          ],
        };
      }
    }
    const seen = new Map<string, unknown>();
    for await (const reply of client.evaluateStream(requests())) {
      seen.set(reply.id, reply.results[0]?.outcome.case);
    }
    expect(seen).toEqual(
      new Map([
        ['a', 'verdict'],
        ['b', 'error'],
        ['c', 'verdict'],
      ]),
    );
  });
});
