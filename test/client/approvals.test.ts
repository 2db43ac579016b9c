import { Code, ConnectError } from '@connectrpc/connect';
import { createGrpcWebTransport } from '@connectrpc/connect-node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApprovalState } from '../../gen/proto/enforcement/v1/approval_pb.js';
import { Outcome } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import {
  ApprovalDeniedError,
  ApprovalExpiredError,
  ApprovalRequiredError,
  type Client,
  createClient,
  DeniedError,
  NotEvaluatedError,
  StepDataError,
} from '../../packages/client/src/node.js';
import { until as untilTrue } from '../support/until.js';
import { type ScriptedApprovals, startScriptedApprovals } from './scripted-approvals.js';

const AGENT = 'billing-bot-01';

/** Waits until something is so. */
const until = (isSo: () => boolean): Promise<unknown> => untilTrue(isSo, (so) => so);
const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: unknown) => error,
  );

describe.each(['gRPC', 'gRPC-Web'])('a guarded tool that a person must approve, over %s', (protocol) => {
  let service: ScriptedApprovals;
  let client: Client;
  let paid: unknown[];
  const pay = async (payment: { amount: number }) => {
    paid.push(payment.amount);
    return 'paid';
  };
  const ONLY_PRE = { step: 'pay', stages: ['pre'] } as const;

  beforeEach(async () => {
    service = await startScriptedApprovals();
    paid = [];
    const settings = { agent: AGENT, timeoutMs: 300_000 };
    const transport = () => createGrpcWebTransport({ baseUrl: service.url, httpVersion: '2' });
    client =
      protocol === 'gRPC'
        ? createClient({ baseUrl: service.url, ...settings })
        : createClient({ transport: transport(), ...settings });
  });
  afterEach(async () => {
    client.close();
    await service.stop();
  });

  const waiting = (): Promise<unknown> => until(() => service.watches.some(({ isOpen }) => isOpen));

  it('does not run by default: it throws, and passes once it is approved', async () => {
    const tool = client.guard(pay, { ...ONLY_PRE, stepId: () => 'call-1' });
    const error = await failureOf(tool({ amount: 5 }));
    expect(error).toBeInstanceOf(ApprovalRequiredError);
    expect(error).toBeInstanceOf(DeniedError);
    expect(error).toMatchObject({
      step: 'pay',
      controls: ['big-payments'],
      approval: { id: 1, state: 'pending', controls: [{ controlId: 7, controlName: 'big-payments' }] },
    });
    expect((error as Error).message).toBe(
      'Step "pay" did not run, because a person must approve it (approval 1) by "big-payments". Repeat it once it is approved.',
    );
    expect(paid).toEqual([]);
    expect(service.watches).toEqual([]);
    service.end(1, ApprovalState.APPROVED);
    expect(await tool({ amount: 5 })).toBe('paid');
    expect(await tool({ amount: 5 })).toBe('paid');
    expect(service.evaluations.map(({ accepts }) => accepts)).toEqual(
      Array(3).fill([Outcome.STEER, Outcome.ASK, Outcome.MODIFY]),
    );
    expect(await failureOf(client.guard(pay, ONLY_PRE)({ amount: 5 }))).toMatchObject({
      approval: { id: 2 },
    });
  });

  it('waits, and runs once it is approved', async () => {
    const tool = client.guard(pay, { ...ONLY_PRE, onAsk: 'wait' });
    const call = tool({ amount: 5 });
    await waiting();
    expect(paid).toEqual([]);
    service.end(1, ApprovalState.APPROVED);
    expect(await call).toBe('paid');
    const [first, second] = service.evaluations;
    expect(second?.stepId).toBe(first?.stepId);
    expect(first?.stepId).toMatch(/^[\da-f-]{36}$/);
    await until(() => service.watches.every(({ isOpen }) => !isOpen));
  });

  it('does not run if it is denied, and tells what the approver says', async () => {
    const tool = client.guard(pay, { ...ONLY_PRE, onAsk: 'wait' });
    const call = failureOf(tool({ amount: 5 }));
    await waiting();
    service.end(1, ApprovalState.DENIED, 'ask the customer first');
    const error = await call;
    expect(error).toBeInstanceOf(ApprovalDeniedError);
    expect(error).toBeInstanceOf(DeniedError);
    expect(error).toMatchObject({ approval: { id: 1, state: 'denied', reason: 'ask the customer first' } });
    expect((error as Error).message).toContain('its approval (1) was denied: ask the customer first');
    // The denial stands: the service answers it at once.
    expect(await failureOf(tool({ amount: 5 }))).toBeInstanceOf(ApprovalDeniedError);
    expect(await failureOf(client.guard(pay, ONLY_PRE)({ amount: 5 }))).toBeInstanceOf(ApprovalDeniedError);
    expect(paid).toEqual([]);
  });

  it.each([
    ['expired', ApprovalState.EXPIRED],
    ['cancelled', ApprovalState.CANCELLED],
  ] as const)('does not run if the approval was %s', async (state, value) => {
    const tool = client.guard(pay, { ...ONLY_PRE, onAsk: 'wait' });
    const call = failureOf(tool({ amount: 5 }));
    await waiting();
    service.end(1, value);
    const error = await call;
    expect(error).toBeInstanceOf(ApprovalExpiredError);
    expect(error).toMatchObject({ approval: { id: 1, state } });
    expect(paid).toEqual([]);
  });

  it('asks when the time of the approval is over, and then believes the service', async () => {
    service.expiresMs = 50;
    const tool = client.guard(pay, { ...ONLY_PRE, onAsk: 'wait' });
    const call = tool({ amount: 5 });
    await waiting();
    // By the clock of this process it has expired, but not by that of the service.
    await until(() => Date.now() > service.approval(1).expiresAtMs + 100);
    service.end(1, ApprovalState.APPROVED);
    expect(await call).toBe('paid');
    const late = failureOf(tool({ amount: 6 }));
    await until(() => service.approvals.size === 2);
    service.approval(2).state = ApprovalState.EXPIRED;
    expect(await late).toBeInstanceOf(ApprovalExpiredError);
  });

  it('rejects when its call is aborted, and cancels the approval unless another call waits for it', async () => {
    const aborts = [new AbortController(), new AbortController()];
    type Call = { signal: AbortSignal };
    const tool = client.guard((payment: { amount: number }, _call: Call) => pay(payment), {
      ...ONLY_PRE,
      onAsk: 'wait',
      signal: (_payment, { signal }) => signal,
    });
    const calls = aborts.map(({ signal }) => failureOf(tool({ amount: 5 }, { signal })));
    await until(() => service.evaluations.length === 2);
    await waiting();
    const reasons = [new Error('left first'), new Error('left last')];
    aborts[0]?.abort(reasons[0]);
    expect(await calls[0]).toBe(reasons[0]);
    expect(service.cancelled).toEqual([]);
    aborts[1]?.abort(reasons[1]);
    expect(await calls[1]).toBe(reasons[1]);
    await until(() => service.cancelled.length > 0);
    expect(service.cancelled).toEqual([{ id: 1, agent: AGENT }]);
    expect(paid).toEqual([]);
  });

  it('waits with one stream for all calls of an agent', async () => {
    const tool = client.guard(pay, { ...ONLY_PRE, onAsk: 'wait' });
    const first = tool({ amount: 1 });
    await waiting();
    const others = [2, 3, 4, 5].map((amount) => tool({ amount }));
    await until(() => service.watches.some(({ ids, isOpen }) => isOpen && ids.length === 5));
    await until(() => service.watches.filter(({ isOpen }) => isOpen).length === 1);
    expect(service.watches.length).toBeLessThan(6);
    for (const id of [5, 4, 3, 2, 1]) service.end(id, ApprovalState.APPROVED);
    await Promise.all([first, ...others]);
    expect(paid.length).toBe(5);
    await until(() => service.watches.every(({ isOpen }) => !isOpen));
  });

  it('goes on waiting when the service restarts, also for what was decided meanwhile', async () => {
    const tool = client.guard(pay, { ...ONLY_PRE, onAsk: 'wait' });
    const calls = [1, 2].map((amount) => tool({ amount }));
    await until(() => service.watches.some(({ ids, isOpen }) => isOpen && ids.length === 2));
    await service.stop();
    service.approval(1).state = ApprovalState.APPROVED;
    await service.start();
    expect(await Promise.race(calls)).toBe('paid');
    await until(() => service.watches.at(-1)?.isOpen === true);
    service.end(2, ApprovalState.APPROVED);
    expect(await Promise.all(calls)).toEqual(['paid', 'paid']);
  });

  it('hears of an approval that ended after another call had waited for it', async () => {
    const tool = client.guard(pay, { ...ONLY_PRE, onAsk: 'wait' });
    const other = tool({ amount: 1 });
    await until(() => service.approvals.size === 1);
    const first = tool({ amount: 2 });
    await until(() => service.watches.some(({ ids, isOpen }) => isOpen && ids.length === 2));
    let goOn: (answer: 'wait') => void = () => {};
    const held = new Promise<'wait'>((resolve) => {
      goOn = resolve;
    });
    const step = { name: 'pay', input: { amount: 2 } };
    const second = client.evaluate(
      { stage: 'pre', step },
      { waitForApproval: { onAsk: ({ id }) => (id === 2 ? held : 'wait') } },
    );
    await until(() => service.evaluations.length === 3);
    service.end(2, ApprovalState.APPROVED);
    expect(await first).toBe('paid');
    // The stream is still open for the other call, and will not tell this approval again.
    goOn('wait');
    await until(() => service.watches.some(({ ids, isOpen }) => isOpen && ids.includes(3)));
    service.end(3, ApprovalState.APPROVED);
    expect(await second).toMatchObject({ isSafe: true, approval: { id: 3 } });
    service.end(1, ApprovalState.APPROVED);
    expect(await other).toBe('paid');
  });

  it('does not wait any longer than it should, and leaves the approval pending', async () => {
    const tool = client.guard(pay, { ...ONLY_PRE, onAsk: 'wait', maxWaitMs: 50 });
    expect(await failureOf(tool({ amount: 5 }))).toBeInstanceOf(ApprovalRequiredError);
    expect(service.approval(1).state).toBe(ApprovalState.PENDING);
    expect(service.cancelled).toEqual([]);
    for (const maxWaitMs of [0, Number.NaN])
      expect(() => client.guard(pay, { ...ONLY_PRE, maxWaitMs })).toThrow('maxWaitMs must be');
  });

  it('does not run when the service refuses to tell', async () => {
    service.refusal = new ConnectError('no', Code.PermissionDenied);
    const tool = client.guard(pay, { ...ONLY_PRE, onAsk: 'wait' });
    expect(await failureOf(tool({ amount: 5 }))).toMatchObject({ code: Code.PermissionDenied });
    service.refusal = undefined;
    const call = failureOf(tool({ amount: 5 }));
    await waiting();
    client.close();
    expect(await call).toMatchObject({ code: Code.Canceled });
    expect(paid).toEqual([]);
  });

  it('asks a function what to do, for each approval', async () => {
    const asked: unknown[] = [];
    let answer: 'wait' | 'throw' = 'throw';
    const tool = client.guard(pay, {
      ...ONLY_PRE,
      onAsk: (approval, step) => {
        asked.push([approval.id, approval.state, step.name, step.input]);
        return answer;
      },
    });
    expect(await failureOf(tool({ amount: 5 }))).toBeInstanceOf(ApprovalRequiredError);
    answer = 'wait';
    const call = tool({ amount: 5 });
    await waiting();
    // Another call was faster: the approval is used, and this one asks again.
    service.approval(1).usedStepId = 'another';
    service.end(1, ApprovalState.USED);
    await until(
      () => service.approvals.get('{"type":"tool","name":"pay","input":{"amount":5}}')?.length === 2,
    );
    await until(() => service.watches.some(({ ids, isOpen }) => isOpen && ids.includes(2)));
    service.end(2, ApprovalState.APPROVED);
    expect(await call).toBe('paid');
    expect(asked).toEqual([
      [1, 'pending', 'pay', { amount: 5 }],
      [1, 'pending', 'pay', { amount: 5 }],
      [2, 'pending', 'pay', { amount: 5 }],
    ]);
    const broken = new Error('no inbox');
    const failing = client.guard(pay, {
      ...ONLY_PRE,
      onAsk: () => {
        throw broken;
      },
    });
    expect(await failureOf(failing({ amount: 6 }))).toBe(broken);
  });

  it('does not run with arguments that have changed while it waited', async () => {
    const payment = { amount: 5 };
    const tool = client.guard(pay, { ...ONLY_PRE, onAsk: 'wait' });
    const call = failureOf(tool(payment));
    await waiting();
    payment.amount = 5_000;
    service.end(1, ApprovalState.APPROVED);
    const error = await call;
    expect(error).toBeInstanceOf(StepDataError);
    expect((error as Error).message).toContain('its arguments have changed since they were checked');
    expect(paid).toEqual([]);
  });

  it('does not run if its step cannot be evaluated again, whatever is allowed without a service', async () => {
    const tool = client.guard(pay, { ...ONLY_PRE, onAsk: 'wait', onUnavailable: 'allow', timeoutMs: 2_000 });
    const call = failureOf(tool({ amount: 5 }));
    await waiting();
    service.isAway = true;
    service.end(1, ApprovalState.APPROVED);
    expect(await call).toBeInstanceOf(NotEvaluatedError);
    expect(paid).toEqual([]);
    expect(await tool({ amount: 6 })).toBe('paid');
  });

  it('waits in a session and for a step alone as well', async () => {
    const session = client.session();
    const tool = session.guard(pay, { ...ONLY_PRE, onAsk: 'wait' });
    const call = tool({ amount: 5 });
    await waiting();
    service.end(1, ApprovalState.APPROVED);
    expect(await call).toBe('paid');
    const step = { name: 'pay', input: { amount: 6 } };
    expect(await client.evaluate({ stage: 'pre', step }, { accepts: ['ask'] })).toMatchObject({
      outcome: 'ask',
      isSafe: false,
    });
    const id = Math.max(...[...service.approvals.values()].flat().map((one) => one.id));
    const evaluation = client.evaluate({ stage: 'pre', step }, { waitForApproval: {} });
    await until(() => service.watches.some(({ ids, isOpen }) => isOpen && ids.includes(id)));
    service.end(id, ApprovalState.APPROVED);
    expect(await evaluation).toMatchObject({
      isSafe: true,
      outcome: 'allow',
      approval: { id, state: 'used' },
    });
  });
});
