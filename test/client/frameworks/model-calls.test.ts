import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ApprovalState } from '../../../gen/proto/enforcement/v1/approval_pb.js';
import {
  checkedStream,
  createModelCalls,
  createTextWindows,
  createToolCalls,
  type ModelCall,
  type StreamShape,
} from '../../../packages/client/src/frameworks/index.js';
import {
  ApprovalRequiredError,
  type Client,
  Code,
  ConnectError,
  createClient,
  NotEvaluatedError,
} from '../../../packages/client/src/node.js';
import { until } from '../../support/until.js';
import { type ScriptedApprovals, startScriptedApprovals } from '../scripted-approvals.js';

const AGENT = 'paying-bot-01';
let service: ScriptedApprovals;
let client: Client;
beforeAll(async () => {
  service = await startScriptedApprovals();
  client = createClient({ baseUrl: service.url, agent: AGENT, timeoutMs: 300_000 });
});
afterAll(async () => {
  client.close();
  await service.stop();
});
afterEach(() => {
  service.approvals.clear();
  service.evaluations.length = 0;
});

/** The latest approval, once there is one of this count. */
const asked = (count: number) =>
  until(
    () => [...service.approvals.values()].flat(),
    (all) => all.length === count,
  ).then((all) => all.at(-1)?.id ?? 0);

describe('calls of tools', () => {
  const pay = ({ amount }: { amount: number }) => `paid ${amount}`;
  const call = (amount: number) => ({ name: 'pay', input: { amount }, stepId: `pay-${amount}` });

  it('are told to be repeated when they are resumed before the decision, and run after it', async () => {
    const calls = createToolCalls({ client });
    const approval = await calls.approval(call(1));
    expect(approval?.state).toBe('pending');
    const refusal = { status: 'not_executed', reason: 'approval_required', approval_id: approval?.id };
    expect(await calls.run(call(1), pay)).toMatchObject(refusal);
    const decision = calls.decision(call(1));
    service.end(approval?.id ?? 0, ApprovalState.APPROVED);
    expect(await decision).toEqual({ approved: true });
    expect(await calls.run(call(1), pay)).toBe('paid 1');
    // One call in all its evaluations.
    expect(new Set(service.evaluations.map(({ stepId }) => stepId))).toEqual(new Set(['pay-1']));
  });

  it('wait with onAsk "wait", and ask nothing of the framework', async () => {
    const calls = createToolCalls({ client, onAsk: 'wait' });
    expect(await calls.approval(call(2))).toBeUndefined();
    const running = calls.run(call(2), pay);
    service.end(await asked(1), ApprovalState.DENIED, 'too much');
    expect(await running).toMatchObject({ reason: 'denied', message: expect.stringContaining('too much') });
  });

  it('are other steps when their id is repeated, at once or later, unless they failed', async () => {
    const calls = createToolCalls({ client });
    const given = { name: 'pay', input: { amount: 5 }, stepId: 'same' };
    const approval = await calls.approval(given);
    service.end(approval?.id ?? 0, ApprovalState.APPROVED);
    const failing = calls.run(given, () => Promise.reject(new Error('try again')));
    await expect(failing).rejects.toThrow('try again');
    const both = await Promise.all([calls.run(given, pay), calls.run(given, pay)]);
    expect(both).toContain('paid 5');
    await calls.run({ ...given, sessionId: 'another' }, pay);
    const ids = service.evaluations.map(({ stepId, sessionId }) => `${sessionId ?? ''} ${stepId}`);
    expect(new Set(ids)).toEqual(new Set([' same', ' same.r1', 'another same']));
  });

  it('reject with onRefused "throw"', async () => {
    const calls = createToolCalls({ client, onRefused: 'throw' });
    await expect(calls.run(call(3), pay)).rejects.toThrow(ApprovalRequiredError);
  });

  it('have an object as input in any case, and the tool gets what it was given', async () => {
    const calls = createToolCalls({ client, onAsk: 'wait' });
    const running = calls.run({ name: 'say', input: 'hello' }, (text: string) => `said ${text}`);
    service.end(await asked(1), ApprovalState.APPROVED);
    expect(await running).toBe('said hello');
    expect([...service.approvals.keys()].map((text) => JSON.parse(text).input)).toEqual([{ input: 'hello' }]);
  });
});

describe('a streamed answer', () => {
  type Part = { text: string } | { end: true };
  const SHAPE: StreamShape<Part> = {
    kind: (part) => ('text' in part ? 'text' : 'held'),
    text: (part) => ({ text: 'text' in part ? part.text : '', key: '' }),
    released: (text) => ({ text }),
    output: (_parts, text) => ({ text, usage: { output_tokens: 7 } }),
    ending: (held) => held,
    refusal: (text) => [{ text }],
  };
  const windows = { maxChars: 4, overlapChars: 0, maxDelayMs: 60_000 };

  async function everyPartOf(stream: AsyncIterable<Part>): Promise<Part[]> {
    const parts: Part[] = [];
    for await (const part of stream) parts.push(part);
    return parts;
  }

  /** A call of a model that may go on: the service asks about every step. */
  async function begin() {
    const calls = createModelCalls({ client, sessionId: 'session-1', model: { windows } });
    const before = service.approvals.size;
    const messages = [{ role: 'user', content: `hello ${before}` }];
    const request = { request: messages, messages, change: () => [], stepId: 'call-1' };
    await calls.begin(request).catch(() => {});
    service.end(await asked(before + 1), ApprovalState.APPROVED);
    const call = await calls.begin(request);
    service.evaluations.length = 0;
    return { calls, call };
  }

  const posted = () =>
    service.evaluations.map(({ stepForm, stepId, stepError, sessionId }) => ({
      ...{ stepId, stepError, sessionId },
      output: JSON.parse(Buffer.from(stepForm.value as Uint8Array).toString()).output,
    }));

  it('is checked in windows with ids of their own, and ends with the whole', async () => {
    const { calls, call } = await begin();
    async function* source(): AsyncGenerator<Part> {
      yield { text: 'abcd' };
      yield { text: 'efgh' };
      yield { end: true };
    }
    const parts = await everyPartOf(checkedStream(source(), calls, call, SHAPE));
    expect(parts).toEqual([{ text: 'abcd' }, { text: 'efgh' }, { end: true }]);
    const of = { sessionId: 'session-1', stepError: undefined };
    expect(posted()).toEqual([
      { ...of, stepId: 'call-1.w1', output: { text: 'abcd' } },
      { ...of, stepId: 'call-1.w2', output: { text: 'efgh' } },
      { ...of, stepId: 'call-1', output: { text: 'abcdefgh', usage: { output_tokens: 7 } } },
    ]);
  });

  it('closes its source, and ends the step, when it is no longer read', async () => {
    const { calls, call } = await begin();
    let isClosed = false;
    async function* source(): AsyncGenerator<Part> {
      try {
        for (;;) yield { text: 'abcd' };
      } finally {
        isClosed = true;
      }
    }
    for await (const part of checkedStream(source(), calls, call, SHAPE)) {
      expect(part).toEqual({ text: 'abcd' });
      break;
    }
    await until(posted, (all) => all.some(({ stepId }) => stepId === 'call-1'));
    expect(posted().find(({ stepId }) => stepId === 'call-1')?.stepError).toContain('no longer read');
    expect(isClosed).toBe(true);
  });

  it('fails as its source fails', async () => {
    const { calls, call } = await begin();
    async function* source(): AsyncGenerator<Part> {
      yield { text: 'abcd' };
      throw new Error('overloaded');
    }
    await expect(everyPartOf(checkedStream(source(), calls, call, SHAPE))).rejects.toThrow('overloaded');
    await until(posted, (all) => all.some(({ stepError }) => stepError === 'Error: overloaded'));
  });

  it('ends with a refusal when a window cannot be checked, and reads no more', async () => {
    const { call } = await begin();
    const calls = createModelCalls({ client, model: { refusalText: ({ message }) => `No: ${message}` } });
    const checked = { agent: AGENT, step: 'model', stage: 'post' } as const;
    const away = new NotEvaluatedError('it is away', checked, new ConnectError('away', Code.Unavailable));
    const cut: ModelCall = {
      ...call,
      windows: (host) => createTextWindows({ ...host, check: () => Promise.reject(away) }, windows),
    };
    async function* source(): AsyncGenerator<Part> {
      for (;;) yield { text: 'abcd' };
    }
    expect(await everyPartOf(checkedStream(source(), calls, cut, SHAPE))).toEqual([
      { text: 'No: it is away' },
    ]);
  });
});
