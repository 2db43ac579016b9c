import { createEnforcement } from '@control-enforcement/ai-sdk';
import {
  generateText,
  isStepCount,
  type ModelMessage,
  simulateReadableStream,
  streamText,
  type ToolSet,
  tool,
  wrapLanguageModel,
} from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import { unchecked } from './ai-sdk-unchecked.js';
import { ANSWERS, away, client, decide, MAILS, model, pay, report, sendMail } from './scenario.js';

const enforcement = createEnforcement({ client, model, onUnchecked: () => {} });
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const stop = { unified: 'stop' as const, raw: undefined };

const tools = {
  send_mail: tool({ inputSchema: z.object({ text: z.string() }), execute: sendMail }),
  pay: tool({ inputSchema: z.object({ amount: z.number() }), execute: pay }),
};
const guarded = enforcement.tools(tools);

/** Calls a tool once, and then says that it is done. */
const calling = (toolName: string, input: object, toolCallId: string) =>
  new MockLanguageModelV4({
    doGenerate: [
      {
        content: [{ type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) }],
        finishReason: { unified: 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      },
      { content: [{ type: 'text', text: 'done' }], finishReason: stop, usage, warnings: [] },
    ],
  });

const told = (mock: MockLanguageModelV4, call: number): unknown => {
  const part = mock.doGenerateCalls[call]?.prompt.at(-1)?.content.at(-1);
  if (typeof part !== 'object' || part.type !== 'tool-result') return part;
  return 'value' in part.output ? part.output.value : part.output;
};

let calls = 0;
async function call(given: ToolSet, toolName: string, input: object): Promise<unknown> {
  const mock = calling(toolName, input, `call-${++calls}`);
  await generateText({ model: mock, tools: given, stopWhen: isStepCount(2), prompt: 'go' });
  return told(mock, 1);
}

/** Calls `pay`, is interrupted, and goes on after the decision. */
async function asked(amount: number, decision: 'approve' | 'deny'): Promise<unknown> {
  const mock = calling('pay', { amount }, `pay-${amount}`);
  const messages: ModelMessage[] = [{ role: 'user', content: 'pay' }];
  const first = await generateText({ model: mock, tools: guarded, messages });
  await decide(decision);
  const answer = await enforcement.decide(first.content);
  if (answer === undefined) return 'it was not interrupted';
  await generateText({
    model: mock,
    tools: guarded,
    messages: [...messages, ...first.responseMessages, answer],
  });
  return told(mock, 1);
}

const withModel = (mock: MockLanguageModelV4) =>
  wrapLanguageModel({ model: mock, middleware: enforcement.middleware });
const saying = (text: string) =>
  new MockLanguageModelV4({
    doGenerate: { content: [{ type: 'text', text }], finishReason: stop, usage, warnings: [] },
  });

async function said(prompt: string, answer: string) {
  const mock = saying(answer);
  const { text } = await generateText({ model: withModel(mock), prompt });
  return { text, saw: JSON.stringify(mock.doGenerateCalls[0]?.prompt ?? null) };
}

async function streamed(deltas: readonly string[]): Promise<string[]> {
  const id = 'text-1';
  const mock = new MockLanguageModelV4({
    doStream: {
      stream: simulateReadableStream({
        initialDelayInMs: null,
        chunkDelayInMs: null,
        chunks: [
          { type: 'stream-start' as const, warnings: [] },
          { type: 'text-start' as const, id },
          ...deltas.map((delta) => ({ type: 'text-delta' as const, id, delta })),
          { type: 'text-end' as const, id },
          { type: 'finish' as const, finishReason: stop, usage },
        ],
      }),
    },
  });
  const texts: string[] = [];
  for await (const text of streamText({ model: withModel(mock), prompt: 'go' }).textStream) texts.push(text);
  return texts;
}

const mails: Record<string, unknown> = {};
for (const [name, text] of Object.entries(MAILS)) mails[name] = await call(guarded, 'send_mail', { text });
await report(
  {
    mails,
    away: await call(createEnforcement({ client: away }).tools(tools), 'send_mail', { text: 'away' }),
    approved: await asked(11, 'approve'),
    rejected: await asked(12, 'deny'),
    model: {
      allowed: await said('hello', 'good morning'),
      inputDenied: await said('say the FORBIDDEN word', 'no'),
      inputChanged: await said('my ssn 123', 'thanks'),
      outputDenied: await said('hello', 'the launch code 123456'),
      outputRedacted: await said('hello', 'the key sk-abcdef'),
    },
    streams: {
      streamed: await streamed(ANSWERS.streamed),
      denied: await streamed(ANSWERS.denied),
      redacted: await streamed(ANSWERS.redacted),
    },
  },
  unchecked,
);
