import { createClient } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import { Decision, Execution } from '../../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../../gen/proto/enforcement/v1/control_service_pb.js';
import { rpcTransport } from '../../support/rpc-transports.js';
import { suiteService } from '../../support/service-suite.js';
import { startedThread } from './heavy-steps.support.js';

const LARGE_TEXT = 'lorem ipsum '.repeat(90_000);
const rate = (limit: number, key: string) => ({
  execution: 'server',
  condition: {
    selector: { path: '*' },
    evaluator: { name: 'rate', config: { limit, period: '1h', key: [key] } },
  },
  action: { decision: 'deny' },
});

describe('a service with controls that have memory', () => {
  const service = suiteService();
  const send = (agent: string, input: string, members: object = {}, path = 'evaluation') =>
    service.call('POST', `/api/v1/${path}`, {
      agent_name: agent,
      stage: 'pre',
      step: { type: 'llm', name: 'answer', input },
      ...members,
    });
  beforeAll(async () => {
    await service.seed.agent('agent-without-memory');
    await startedThread(service, 'agent-without-memory');
  });

  it('counts steps of 1 MB and small ones together, exactly', async () => {
    await service.seed.linked('agent-of-large-steps', 'rate-of-all', rate(6, 'agent'));
    const inputs = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? LARGE_TEXT : 'small'));
    const replies = await Promise.all(
      inputs.map((input) => send('agent-of-large-steps', input, { accepts: ['deny'] })),
    );
    expect(replies.filter(({ body }) => body.is_safe === true)).toHaveLength(6);
    const denied = replies.find(({ body }) => body.is_safe === false);
    expect(denied?.body.limits).toMatchObject([{ evaluator_name: 'rate', limit: 6, remaining: 0 }]);
  });

  it('explains a session, and uses nothing up', async () => {
    await service.seed.linked('agent-of-sessions', 'rate-of-sessions', rate(1, 'session'));
    const explained = async (session_id?: string) => {
      const { status, body } = await send(
        'agent-of-sessions',
        'hello',
        session_id === undefined ? {} : { session_id },
        'evaluation/explain',
      );
      expect(status).toBe(200);
      return body as unknown as {
        verdict: { is_safe: boolean; limits?: unknown };
        controls: readonly { message: string }[];
      };
    };
    expect((await explained('one')).verdict.is_safe).toBe(true);
    expect((await send('agent-of-sessions', 'hello', { session_id: 'one' })).body.is_safe).toBe(true);
    const used = await explained('one');
    expect(used.verdict).toMatchObject({ is_safe: false, limits: [{ limit: 1, remaining: 0 }] });
    expect((await explained('two')).verdict.is_safe).toBe(true);
    expect((await explained()).controls[0]?.message).toMatch(
      /The step lacks session_id, which the control needs/,
    );
    const early = await send('agent-of-sessions', 'hello', { step_error: 'it broke' }, 'evaluation/explain');
    expect([early.status, JSON.stringify(early.body)]).toEqual([422, expect.stringContaining('step_error')]);
  });

  it('refuses one that clients are to evaluate, over REST and gRPC', async () => {
    const data = { ...rate(1, 'agent'), execution: 'sdk' };
    const { status, body } = await service.call('PUT', '/api/v1/controls', { name: 'for-clients', data });
    expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining('data.execution')]);
    const client = createClient(ControlService, rpcTransport('gRPC', service.url));
    const refused = client.createControl({
      name: 'for-clients',
      data: {
        execution: Execution.SDK,
        condition: {
          selector: { path: '*' },
          evaluator: { name: 'rate', config: { limit: 1, period: '1h', key: ['agent'] } },
        },
        action: { decision: Decision.DENY },
      },
    });
    await expect(refused).rejects.toThrow(/must be server: the evaluator rate depends on earlier steps/);
  });
});
