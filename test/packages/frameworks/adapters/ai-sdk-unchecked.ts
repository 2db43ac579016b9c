/** Ways by which something could pass the AI SDK unchecked. */
import { createEnforcement } from '@control-enforcement/ai-sdk';
import {
  generateObject,
  generateText,
  isStepCount,
  type LanguageModel,
  simulateReadableStream,
  streamText,
  tool,
  wrapLanguageModel,
} from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import { client, decide, model, pay, ran } from './scenario.js';

const enforcement = createEnforcement({ client, model, onUnchecked: () => {} });
const { tools, middleware } = enforcement;
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const stop = { unified: 'stop' as const, raw: undefined };
const payment = z.object({ amount: z.number() });
type Streamed = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'];
type Part = Streamed extends ReadableStream<infer One> ? One : never;

const saying = (text: string) =>
  new MockLanguageModelV4({
    doGenerate: { content: [{ type: 'text', text }], finishReason: stop, usage, warnings: [] },
  });
const guarded = (inner: MockLanguageModelV4) => wrapLanguageModel({ model: inner, middleware });
const calling = (toolName: string, input: object, toolCallId: string) =>
  new MockLanguageModelV4({
    doGenerate: [
      {
        content: [{ type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) }],
        finishReason: { unified: 'tool-calls', raw: undefined },
        ...{ usage, warnings: [] },
      },
      { content: [{ type: 'text', text: 'done' }], finishReason: stop, usage, warnings: [] },
    ],
  });
const streamOf = (chunks: Part[]) =>
  simulateReadableStream({ initialDelayInMs: null, chunkDelayInMs: null, chunks });
const streaming = (stream: Streamed) => new MockLanguageModelV4({ doStream: { stream } });

/** What a tool makes of a call: the content of the step, in which nothing of it may be. */
async function told(execute: () => unknown): Promise<string> {
  const made = tool({ inputSchema: z.object({}), execute });
  const mock = calling('send_mail', {}, `told-${ran.length}-${String(execute).length}`);
  const { steps } = await generateText({
    ...{ model: mock, tools: tools({ send_mail: made }), stopWhen: isStepCount(2), prompt: 'go' },
  });
  return JSON.stringify([
    steps[0]?.content.map((part) => (part.type === 'tool-error' ? String(part.error) : part)),
    mock.doGenerateCalls[1]?.prompt,
  ]);
}

/** The approval that the application asks for itself is not the service's to give. */
async function ownApproval(): Promise<unknown> {
  const made = tool({ inputSchema: payment, needsApproval: true, execute: pay });
  const given = { model: calling('own_pay', { amount: 1 }, 'own'), tools: tools({ own_pay: made }) };
  const { content } = await generateText({ ...given, prompt: 'pay' });
  return [content.some(({ type }) => type === 'tool-approval-request'), await enforcement.decide(content)];
}

/** A call whose id is repeated is another call: the approval of the first one is used. */
async function repeatedIds(): Promise<unknown> {
  const all = tools({ pay: tool({ inputSchema: payment, execute: pay }) });
  const messages = [{ role: 'user' as const, content: 'pay' }];
  const given = { model: calling('pay', { amount: 13 }, 'same'), tools: all };
  const first = await generateText({ ...given, messages });
  await decide('approve');
  const answer = await enforcement.decide(first.content);
  const resumed = [...messages, ...first.responseMessages, ...(answer === undefined ? [] : [answer])];
  await generateText({ ...given, messages: resumed });
  // The browser sends the same messages once more.
  await generateText({ model: saying('done'), tools: all, messages: resumed });
  const again = await generateText({ model: calling('pay', { amount: 13 }, 'same'), tools: all, messages });
  await decide('deny');
  const asked = again.content.some(({ type }) => type === 'tool-approval-request');
  return [asked, ran.filter((one) => one === 'pay 13').length];
}

/** A text that is in a file. */
async function file(data: string): Promise<string> {
  const content = [{ type: 'file' as const, mediaType: 'text/plain', data }];
  return (await generateText({ model: guarded(saying('read')), messages: [{ role: 'user', content }] })).text;
}

/** What a stream shows of an answer that is denied for the arguments of a call. */
async function deniedCall(): Promise<unknown> {
  const [one, two] = ['text-1', 'text-2'];
  const input = JSON.stringify({ text: 'launch code 123456' });
  const parts: Part[] = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: one },
    { type: 'text-delta', id: one, delta: 'first' },
    { type: 'text-end', id: one },
    { type: 'text-start', id: two },
    { type: 'tool-input-start', id: 'c', toolName: 'send_mail' },
    { type: 'tool-input-delta', id: 'c', delta: input },
    { type: 'tool-input-end', id: 'c' },
    { type: 'tool-call', toolCallId: 'c', toolName: 'send_mail', input },
    { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
  ];
  const inner = streaming(streamOf(parts));
  const types: string[] = [];
  for await (const part of streamText({ model: guarded(inner), prompt: 'go' }).fullStream) {
    if (JSON.stringify(part).includes('123456')) types.push('leaked');
    if (/^text-(start|end)$|tool|error/.test(part.type)) types.push(part.type);
  }
  return types;
}

/** The parts of a stream whose text is changed, and whose provider repeats it. */
async function changedStream(): Promise<string> {
  const id = 'text-1';
  const parts: Part[] = [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: 'the key sk-abcdef' },
    { type: 'text-end', id },
    { type: 'finish', finishReason: stop, usage, providerMetadata: { any: { logprobs: ['sk-abcdef'] } } },
  ];
  const { stream } = await guarded(streaming(streamOf(parts))).doStream({ prompt: [] });
  const shown: Part[] = [];
  for await (const part of stream as unknown as AsyncIterable<Part>) shown.push(part);
  return JSON.stringify(shown);
}

/** Characters whose halves are in two deltas, at the edges of windows. */
async function halves(): Promise<unknown> {
  const id = 'text-1';
  const text = '😀'.repeat(40);
  const deltas = [...(text.match(/[\s\S]{1,23}/g) ?? [])].map((delta) => ({
    type: 'text-delta' as const,
    id,
    delta,
  }));
  const parts: Part[] = [
    { type: 'text-start', id },
    ...deltas,
    { type: 'text-end', id },
    { type: 'finish', finishReason: stop, usage },
  ];
  const inner = streaming(streamOf(parts));
  const texts: string[] = [];
  for await (const one of streamText({ model: guarded(inner), prompt: 'go' }).textStream) texts.push(one);
  return [texts.join('') === text, texts.some((one) => /\p{Surrogate}/u.test(one))];
}

/** A consumer that leaves while the model says nothing: the model is told. */
async function cancelled(): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stalled = new ReadableStream<Part>({ cancel: () => resolve('cancelled') });
    guarded(streaming(stalled))
      .doStream({ prompt: [] })
      .then(({ stream }) => stream.cancel())
      .then(undefined, reject);
  });
}

async function structured(): Promise<unknown> {
  const given: LanguageModel = guarded(saying('{"answer":"launch code 123456"}'));
  const schema = z.object({ answer: z.string() });
  return generateObject({ model: given, schema, prompt: 'go' }).then(
    () => 'passed',
    (error: { name: string; text?: string }) => [error.name, error.text?.includes('no-codes')],
  );
}

function misspelled(): string {
  try {
    // @ts-expect-error the option is misspelled
    createEnforcement({ client, onUnavailabel: 'allow' });
    return 'taken';
  } catch (error) {
    return String(error);
  }
}

export async function unchecked(): Promise<object> {
  return {
    ownApproval: await ownApproval(),
    repeatedIds: await repeatedIds(),
    thrown: await told(() => {
      throw new Error('row SECRET-4711');
    }),
    preliminary: await told(async function* () {
      yield 'row SECRET-4711';
      yield 'fine';
    }),
    file: await file(Buffer.from('FORBIDDEN').toString('base64')),
    deniedCall: await deniedCall(),
    changedStream: await changedStream(),
    halves: await halves(),
    cancelled: await cancelled(),
    structured: await structured(),
    misspelled: misspelled(),
  };
}
