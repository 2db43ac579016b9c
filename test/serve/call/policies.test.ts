import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/errors/service-error.js';
import type { CallPolicy } from '../../../src/serve/call/call-host.js';
import { exchange, restClient } from '../../support/http.js';
import { lanes } from '../../support/lanes.js';
import {
  methodNamed,
  PROTOCOL_NAMES,
  PROTOCOLS,
  type ProtocolClient,
  STREAMING_PROTOCOLS,
} from '../../support/protocol-clients.js';
import { seeder } from '../../support/seed.js';
import { suiteService } from '../../support/service-suite.js';
import { until } from '../../support/until.js';

const AGENT = 'governed-agent-1';
/** Keys are off, so that any is accepted; the policy refuses this one. */
const BLOCKED = 'blocked';
const EVALUATION = { agent_name: AGENT, stage: 'pre', step: { type: 'llm', name: 'answer', input: 'x' } };

const CALLS: Readonly<Record<string, object>> = {
  'AgentService.ListAgents': {},
  'EvaluationService.Evaluate': EVALUATION,
  'EvaluationService.EvaluateBatch': { evaluations: [EVALUATION] },
};

describe.each([
  ['with the lanes', 'true'],
  ['without the lanes', 'false'],
])('a policy added once, %s', (_name, lane) => {
  const entered: string[] = [];
  const ended: string[] = [];
  const policy: CallPolicy = {
    entered(call) {
      entered.push(`${call.protocol} ${call.route.path}`);
      if (call.header('x-api-key') !== BLOCKED) return;
      throw new ServiceError('AUTH_INSUFFICIENT_PRIVILEGES', { detail: `refused: ${call.requestId}` });
    },
    ended: (call) => void ended.push(`${call.protocol} ${call.route.path}`),
  };

  const service = suiteService(lanes(lane), { policies: [policy] });
  beforeAll(async () => {
    await seeder(restClient(service.url)).agent(AGENT);
  });

  async function counted(work: () => Promise<void>): Promise<void> {
    await until(
      () => ended.length,
      (count) => count === entered.length,
    );
    const before = entered.length;
    await work();
    await until(
      () => ended.length,
      (count) => count === entered.length,
    );
    expect(entered.length).toBe(before + 1);
    expect(ended.at(-1)).toBe(entered.at(-1));
  }

  describe.each(PROTOCOL_NAMES)('over %s', (name) => {
    let client: ProtocolClient;
    beforeAll(() => {
      client = PROTOCOLS[name](service.url);
    });
    afterAll(() => client.close());

    it.each(Object.keys(CALLS))('sees and refuses %s', async (method) => {
      const input = CALLS[method] as object;
      await counted(async () => {
        expect(await client.call(methodNamed(method), input, 'welcome')).toMatchObject({ ok: true });
      });
      await counted(async () => {
        expect(await client.call(methodNamed(method), input, BLOCKED)).toMatchObject({
          ok: false,
          reason: 'AUTH_INSUFFICIENT_PRIVILEGES',
        });
      });
    });
  });

  it.each(STREAMING_PROTOCOLS)('sees and refuses a stream of evaluations over %s', async (name) => {
    const client = PROTOCOLS[name](service.url);
    const method = methodNamed('EvaluationService.EvaluateStream');
    const messages = [{ id: '1', evaluation: EVALUATION }];
    await counted(async () => {
      expect(await client.stream(method, messages, 'welcome')).toHaveLength(1);
    });
    await counted(async () => {
      await expect(client.stream(method, messages, BLOCKED)).rejects.toThrow(/refused: /);
    });
    client.close();
  });

  it('sees and refuses the session routes', async () => {
    await counted(async () => {
      expect((await exchange(service.url, { path: '/api/config' })).status).toBe(200);
    });
    await counted(async () => {
      const refused = await exchange(service.url, { path: '/api/config', headers: { 'x-api-key': BLOCKED } });
      expect([refused.status, refused.json.error_code]).toEqual([403, 'AUTH_INSUFFICIENT_PRIVILEGES']);
    });
  });
});
