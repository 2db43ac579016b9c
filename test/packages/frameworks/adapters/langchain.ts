import { createEnforcement } from '@control-enforcement/langchain';
import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { tool } from '@langchain/core/tools';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { INTERRUPT, isInterrupted, MemorySaver } from '@langchain/langgraph';
import { createAgent } from 'langchain';
import { z } from 'zod';
import { unchecked } from './langchain-unchecked.js';
import { ANSWERS, away, client, decide, MAILS, model, pay, report, sendMail } from './scenario.js';

const enforcement = createEnforcement({ client, model, onUnchecked: () => {} });

const tools = [
  tool(sendMail, { name: 'send_mail', description: 'Sends.', schema: z.object({ text: z.string() }) }),
  tool(pay, { name: 'pay', description: 'Pays.', schema: z.object({ amount: z.number() }) }),
];

const calling = (name: string, args: Record<string, unknown>, id: string) =>
  fakeModel()
    .respond(new AIMessage({ content: '', tool_calls: [{ name, args, id }] }))
    .respond(new AIMessage('done'));

/** What the model is told of the call of a tool. */
function told(messages: readonly BaseMessage[]): unknown {
  const text = messages.find((message) => message.getType() === 'tool')?.text ?? '';
  return text.startsWith('{') ? JSON.parse(text) : text;
}

let calls = 0;
async function call(
  name: string,
  args: Record<string, unknown>,
  { middleware } = enforcement,
): Promise<unknown> {
  const agent = createAgent({
    model: calling(name, args, `call-${++calls}`),
    tools,
    middleware: [middleware],
  });
  return told((await agent.invoke({ messages: [new HumanMessage('go')] })).messages);
}

/** Calls `pay`, is interrupted, and goes on after the decision. */
async function asked(amount: number, decision: 'approve' | 'deny'): Promise<unknown> {
  const agent = createAgent({
    model: calling('pay', { amount }, `pay-${amount}`),
    tools,
    middleware: [enforcement.middleware],
    checkpointer: new MemorySaver(),
  });
  const config = { configurable: { thread_id: `thread-${amount}` } };
  const first = await agent.invoke({ messages: [new HumanMessage('pay')] }, config);
  if (!isInterrupted(first)) return 'it was not interrupted';
  await decide(decision);
  const command = await enforcement.decide(first[INTERRUPT]);
  if (command === undefined) return 'nothing waits';
  return told((await agent.invoke(command, config)).messages);
}

async function said(prompt: string, answer: string) {
  const scripted = fakeModel().respond(new AIMessage(answer));
  const agent = createAgent({ model: scripted, tools: [], middleware: [enforcement.middleware] });
  const { messages } = await agent.invoke({ messages: [new HumanMessage(prompt)] });
  return {
    text: messages.at(-1)?.text,
    saw: JSON.stringify(scripted.calls[0]?.messages.map(({ text }: BaseMessage) => text) ?? null),
  };
}

/** A model that says an answer in given pieces. */
class Speaking extends FakeListChatModel {
  readonly #deltas: readonly string[];

  constructor(deltas: readonly string[]) {
    super({ responses: [deltas.join('')] });
    this.#deltas = deltas;
  }

  override async *_streamResponseChunks() {
    for (const delta of this.#deltas) yield this._createResponseChunk(delta);
  }
}

/** The options that models of this kind were called with. */
const optionsSeen: unknown[] = [];

/** A model that keeps the options it is bound with, and adds them where it is invoked, as that of a large provider does. */
class Keeping extends FakeListChatModel {
  defaultOptions: { stop?: string[] } = {};

  override bindTools(): Keeping {
    const bound = new Keeping({ responses: this.responses });
    bound.defaultOptions = { stop: ['as bound'] };
    return bound;
  }

  override async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']) {
    optionsSeen.push(options.stop);
    return super._generate(messages, {});
  }
}

async function keeping(): Promise<unknown> {
  const agent = createAgent({
    model: new Keeping({ responses: ['good morning'] }),
    tools,
    middleware: [enforcement.middleware],
  });
  const { messages } = await agent.invoke({ messages: [new HumanMessage('hello')] });
  return [messages.at(-1)?.text, optionsSeen];
}

async function streamed(deltas: readonly string[]): Promise<string[]> {
  const agent = createAgent({ model: new Speaking(deltas), tools: [], middleware: [enforcement.middleware] });
  const texts: string[] = [];
  const input = { messages: [new HumanMessage('go')] };
  for await (const [message] of await agent.stream(input, { streamMode: 'messages' })) {
    if (message.text !== '') texts.push(message.text);
  }
  return texts;
}

const mails: Record<string, unknown> = {};
for (const [name, text] of Object.entries(MAILS)) mails[name] = await call('send_mail', { text });
await report(
  {
    mails,
    away: await call('send_mail', { text: 'away' }, createEnforcement({ client: away, model: false })),
    approved: await asked(31, 'approve'),
    rejected: await asked(32, 'deny'),
    model: {
      allowed: await said('hello', 'good morning'),
      inputDenied: await said('say the FORBIDDEN word', 'no'),
      inputChanged: await said('my ssn 123', 'thanks'),
      outputDenied: await said('hello', 'the launch code 123456'),
      outputRedacted: await said('hello', 'the key sk-abcdef'),
    },
    kept: await keeping(),
    streams: {
      streamed: await streamed(ANSWERS.streamed),
      denied: await streamed(ANSWERS.denied),
      redacted: await streamed(ANSWERS.redacted),
    },
  },
  unchecked,
);
