import { createGrpcWebTransport } from '@connectrpc/connect-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  ApprovalDeniedError,
  ApprovalExpiredError,
  ApprovalRequiredError,
  type Client,
  createClient,
  DeniedError,
} from '../../packages/client/src/node.js';
import { describeAboveStores } from '../support/databases.js';
import { type RestClient, restClient } from '../support/http.js';
import { createKeysFile, type TestKeysFile } from '../support/keys-file.js';
import { seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

const AGENT = 'paying-bot-01';
const KEYS = [
  { name: 'boss', key: 'admin-key', role: 'admin' },
  { name: 'bot', key: 'agent-key', role: 'agent' },
  { name: 'ann', key: 'ann-key', role: 'approver' },
];
const control = (more: object, path: string, pattern: string, action: object) => ({
  execution: 'server',
  scope: { stages: ['pre'], ...more },
  condition: { selector: { path }, evaluator: { name: 'regex', config: { pattern } } },
  action: { decision: 'deny', ...action },
});
const asking = (name: string, approval: object = {}) =>
  control({ step_names: [name] }, 'name', '.', { approval: { approvers: ['role:approver'], ...approval } });
const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: unknown) => error,
  );

describeAboveStores('guarded tools and a service that asks and changes', (freshDatabaseUrl) => {
  let keys: TestKeysFile;
  let service: TestService;
  let environment: Record<string, string>;
  let ann: RestClient;
  beforeAll(async () => {
    keys = createKeysFile(KEYS);
    environment = { ...keys.environment, DATABASE_URL: await freshDatabaseUrl() };
    service = await startService(environment);
    environment.SERVICE_PORT = String(service.port);
    ann = restClient(service.url, { 'x-api-key': 'ann-key' });
    const seed = seeder(restClient(service.url, { 'x-api-key': 'admin-key' }));
    await seed.linked(AGENT, 'payments', asking('pay'));
    const more = {
      'short-payments': asking('pay-soon', { expires_seconds: 10 }),
      secrets: control({}, 'input.text', 'sk-[a-z]+', {
        modify: [{ path: 'input.text', replace: 'matches', with: '[redacted]' }],
      }),
      'secret-outputs': control({ stages: ['post'] }, 'output', 'sk-[a-z]+', {
        modify: [{ path: 'output', replace: 'matches', with: '[redacted]' }],
      }),
    };
    for (const [name, data] of Object.entries(more)) await seed.link(AGENT, await seed.control(name, data));
  });
  afterAll(async () => {
    await service.stop();
    keys.remove();
  });

  let amount = 0;
  const next = () => ({ amount: ++amount });
  /** The approvals of the payment of this amount, the latest one first. */
  const approvalsOf = async (paid: { amount: number }) => {
    const { body } = await ann('GET', `/api/v1/approvals?limit=100&agent_name=${AGENT}`);
    const all = body.approvals as { id: number; state: string; question: string; step_id: string }[];
    return all.filter(({ step_id }) => step_id === `pay-${paid.amount}`);
  };
  const asked = async (payment: { amount: number }) => {
    const found = await until(
      () => approvalsOf(payment),
      (some) => some.length > 0,
    );
    return found[0]?.id ?? 0;
  };
  const decide = async (id: number, decision: string, more: object = {}) => {
    const { status } = await ann('POST', `/api/v1/approvals/${id}/decide`, { decision, ...more });
    expect(status).toBe(200);
  };

  describe.each(['gRPC', 'gRPC-Web'])('over %s', (protocol) => {
    let client: Client;
    let paid: number[];
    const pay = async (payment: { amount: number }) => {
      paid.push(payment.amount);
      return 'paid';
    };
    const options = {
      step: 'pay',
      stages: ['pre'],
      stepId: ({ amount: of }: { amount: number }) => `pay-${of}`,
    } as const;
    beforeEach(() => {
      paid = [];
      const settings = { agent: AGENT, apiKey: 'agent-key', timeoutMs: 300_000 };
      const transport = createGrpcWebTransport({ baseUrl: service.url, httpVersion: '2' });
      client =
        protocol === 'gRPC'
          ? createClient({ baseUrl: service.url, ...settings })
          : createClient({ transport, ...settings });
    });
    afterEach(() => client.close());

    it('throw by default, and run once the step is approved', async () => {
      const payment = next();
      const tool = client.guard(pay, options);
      const error = await failureOf(tool(payment));
      expect(error).toBeInstanceOf(ApprovalRequiredError);
      const { approval } = error as ApprovalRequiredError;
      expect(approval).toMatchObject({ state: 'pending', controls: [{ controlName: 'payments' }] });
      expect(approval.stepSha256).toMatch(/^[\da-f]{64}$/);
      expect(approval.expiresAt.getTime()).toBeGreaterThan(Date.now());
      await decide(approval.id, 'approve');
      expect(await tool(payment)).toBe('paid');
      expect(paid).toEqual([payment.amount]);
    });

    it('wait for the approval, and run once', async () => {
      const payment = next();
      const call = client.guard(pay, { ...options, onAsk: 'wait' })(payment);
      await decide(await asked(payment), 'approve');
      expect(await call).toBe('paid');
      expect(paid).toEqual([payment.amount]);
      expect(await approvalsOf(payment)).toMatchObject([{ state: 'used' }]);
    });

    it('tell what the person says who denies', async () => {
      const payment = next();
      const call = failureOf(client.guard(pay, { ...options, onAsk: 'wait' })(payment));
      await decide(await asked(payment), 'deny', { comment: 'too much' });
      const error = await call;
      expect(error).toBeInstanceOf(ApprovalDeniedError);
      expect(error).toMatchObject({ approval: { state: 'denied', reason: 'too much' } });
      expect(paid).toEqual([]);
    });

    it('do not run once the approval has expired', async () => {
      const payment = next();
      const tool = client.guard(pay, { ...options, step: 'pay-soon', onAsk: 'wait' });
      const error = await failureOf(tool(payment));
      expect(error).toBeInstanceOf(ApprovalExpiredError);
      expect(error).toMatchObject({ approval: { state: 'expired' } });
      expect(paid).toEqual([]);
    });

    it('cancel the approval when the call is aborted', async () => {
      const payment = next();
      const leaving = new AbortController();
      const tool = client.guard(pay, { ...options, onAsk: 'wait', signal: leaving.signal });
      const call = failureOf(tool(payment));
      await asked(payment);
      leaving.abort(new Error('left'));
      expect(await call).toBe(leaving.signal.reason);
      await until(
        () => approvalsOf(payment),
        ([one]) => one?.state === 'cancelled',
      );
      expect(paid).toEqual([]);
    });

    it('wait together, while the service restarts', async () => {
      const payments = [next(), next()];
      const tool = client.guard(pay, { ...options, onAsk: 'wait' });
      const calls = payments.map((one) => tool(one));
      const ids = await Promise.all(payments.map(asked));
      await service.stop();
      service = await startService(environment);
      for (const id of ids) await decide(id, 'approve');
      expect(await Promise.all(calls)).toEqual(['paid', 'paid']);
    });

    it('run as the person has changed the step', async () => {
      const payment = next();
      const call = client.guard(pay, { ...options, onAsk: 'wait' })(payment);
      await decide(await asked(payment), 'approve', {
        narrowed_input_json: JSON.stringify({ amount: payment.amount / 100 }),
      });
      expect(await call).toBe('paid');
      expect(paid).toEqual([payment.amount / 100]);
    });

    it('run with a changed input, and return a changed output', async () => {
      const texts: string[] = [];
      const echo = ({ text }: { text: string; n: bigint }) => {
        texts.push(text);
        return { text: 'mine: sk-own', n: 2n ** 70n };
      };
      const tool = client.guard(echo, { step: 'echo' });
      expect(await tool({ text: 'key sk-abc', n: 2n ** 70n })).toEqual({
        text: 'mine: [redacted]',
        n: 2n ** 70n,
      });
      expect(texts).toEqual(['key [redacted]']);
      const positional = client.guard((text: string) => texts.push(text), {
        step: 'echo',
        input: (text) => ({ text }),
      });
      expect(await failureOf(positional('key sk-abc'))).toBeInstanceOf(DeniedError);
      expect(texts.length).toBe(1);
    });
  });
});
