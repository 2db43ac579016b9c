/** Ways by which something could pass LangChain unchecked. */
import { createEnforcement } from '@control-enforcement/langchain';
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { tool } from '@langchain/core/tools';
import { Command, INTERRUPT, isInterrupted, MemorySaver } from '@langchain/langgraph';
import { createAgent, toolStrategy } from 'langchain';
import { z } from 'zod';
import { client, decide, model, pay, ran } from './scenario.js';

const enforcement = createEnforcement({ client, model, onUnchecked: () => {} });
const { middleware } = enforcement;
const schema = z.object({ text: z.string() });
const made = (run: (input: { text: string }, toolCallId: string) => unknown) =>
  tool(async (input, { toolCall }) => run(input, toolCall?.id ?? ''), {
    name: 'send_mail',
    description: 'Sends.',
    schema,
  });

let calls = 0;
/** What the model is told of the calls of a tool with texts, all at once. */
async function told(run: Parameters<typeof made>[0], ...texts: string[]): Promise<string[]> {
  const tool_calls = texts.map((text) => ({ name: 'send_mail', args: { text }, id: `unchecked-${++calls}` }));
  const scripted = fakeModel()
    .respond(new AIMessage({ content: '', tool_calls }))
    .respond(new AIMessage('done'));
  const agent = createAgent({ model: scripted, tools: [made(run)], middleware: [middleware] });
  const { messages } = await agent.invoke({ messages: [new HumanMessage('go')] });
  return messages.filter((one: BaseMessage) => one.getType() === 'tool').map(({ text }) => text);
}

const command = (content: string) => (_input: object, tool_call_id: string) =>
  new Command({ update: { messages: [new ToolMessage({ content, tool_call_id })] } });

async function answer(message: AIMessage, input: BaseMessage): Promise<BaseMessage> {
  return enforcement.model(fakeModel().respond(message)).invoke([input]);
}

/** A call whose id is repeated is another call: the approval of the first one is used. */
async function repeatedIds(): Promise<unknown> {
  const call = { name: 'pay', args: { amount: 33 }, id: 'same' };
  const calling = () => new AIMessage({ content: '', tool_calls: [call] });
  const description = 'Pays.';
  const agent = createAgent({
    model: fakeModel().respond(calling()).respond(calling()).respond(new AIMessage('done')),
    tools: [tool(pay, { name: 'pay', description, schema: z.object({ amount: z.number() }) })],
    middleware: [middleware],
    checkpointer: new MemorySaver(),
  });
  const config = { configurable: { thread_id: 'repeated' } };
  const first = await agent.invoke({ messages: [new HumanMessage('pay')] }, config);
  await decide('approve');
  const approved = isInterrupted(first) ? await enforcement.decide(first[INTERRUPT]) : undefined;
  if (approved === undefined) return 'it was not interrupted';
  const second = await agent.invoke(approved, config);
  const again = isInterrupted(second);
  if (again) await decide('deny');
  return [again, ran.filter((one) => one === 'pay 33').length];
}

async function structured(): Promise<unknown> {
  const args = { answer: 'fine' };
  const strategy = toolStrategy(z.object({ answer: z.string() }).meta({ title: 'extract' }));
  const agent = createAgent({
    model: fakeModel().respond(
      new AIMessage({ content: '', tool_calls: [{ name: 'extract', args, id: 'e' }] }),
    ),
    ...{ tools: [], middleware: [middleware], responseFormat: strategy },
  });
  return (await agent.invoke({ messages: [new HumanMessage('go')] })).structuredResponse;
}

const data = Buffer.from('FORBIDDEN').toString('base64');
const result = { type: 'server_tool_call_result', toolCallId: 's', status: 'success', output: 'FORBIDDEN' };
const human = new HumanMessage('hello');
const logprobs = { content: [{ token: 'sk-abcdef' }] };

export async function unchecked(): Promise<object> {
  return {
    parallel: await told(({ text }) => `sent ${text}`, 'one', 'card 4111111111111111', 'two'),
    thrown: await told(() => {
      throw new Error('row SECRET-4711');
    }, 'go'),
    command: await told(command('fine'), 'go'),
    commandWithheld: await told(command('row SECRET-4711'), 'go'),
    file: (
      await answer(
        new AIMessage('read'),
        new HumanMessage({ content: [{ type: 'file', mimeType: 'text/plain', data }] }),
      )
    ).text,
    serverTool: (await answer(new AIMessage('read'), new AIMessage({ content: [result] }))).text,
    additional: (
      await answer(
        new AIMessage({ content: 'ok', additional_kwargs: { parsed: 'launch code 123456' } }),
        human,
      )
    ).text,
    changed: JSON.stringify(
      await answer(new AIMessage({ content: 'the key sk-abcdef', response_metadata: { logprobs } }), human),
    ),
    repeatedIds: await repeatedIds(),
    structured: await structured(),
  };
}
