import { createEnforcement } from '@control-enforcement/openai-agents';
import { Agent, type Model, Runner, RunState, setTracingDisabled, tool } from '@openai/agents';
import { assistantMessage, functionCall, modelStream, ScriptedModel } from '@openai/agents/testing';
import { z } from 'zod';
import { unchecked } from './openai-agents-unchecked.js';
import { ANSWERS, away, client, decide, MAILS, model, pay, report, sendMail } from './scenario.js';

setTracingDisabled(true);
const enforcement = createEnforcement({ client, model, onUnchecked: () => {} });
const runner = new Runner();

const mailTool = tool({
  name: 'send_mail',
  description: 'Sends a mail.',
  parameters: z.object({ text: z.string() }),
  execute: sendMail,
});
const payTool = tool({
  name: 'pay',
  description: 'Pays.',
  parameters: z.object({ amount: z.number() }),
  execute: pay,
});

/** What the model is told of the call of a tool. */
function told(scripted: ScriptedModel): unknown {
  const { input } = scripted.calls[1]?.request ?? { input: [] };
  const result =
    typeof input === 'string' ? undefined : input.find(({ type }) => type === 'function_call_result');
  if (result?.type !== 'function_call_result') return result;
  const { output } = result;
  const text = typeof output === 'string' ? output : 'text' in output ? output.text : '';
  return text.startsWith('{') ? JSON.parse(text) : text;
}

let calls = 0;
async function call(
  name: string,
  input: Record<string, unknown>,
  tools: (typeof mailTool | typeof payTool)[],
): Promise<unknown> {
  const scripted = new ScriptedModel([
    [functionCall(name, input, { callId: `call-${++calls}` })],
    [assistantMessage('done')],
  ]);
  await runner.run(new Agent({ name: 'mailer', model: scripted, tools }), 'go');
  return told(scripted);
}

/** Calls `pay`, is interrupted, and goes on after the decision, from the stored state. */
async function asked(amount: number, decision: 'approve' | 'deny'): Promise<unknown> {
  const scripted = new ScriptedModel([
    [functionCall('pay', { amount }, { callId: `pay-${amount}` })],
    [assistantMessage('done')],
  ]);
  const agent = new Agent({ name: 'payer', model: scripted, tools: [enforcement.tool(payTool)] });
  const first = await runner.run(agent, 'pay');
  if (first.interruptions.length === 0) return 'it was not interrupted';
  await decide(decision);
  const state = await RunState.fromString(agent, first.state.toString());
  await enforcement.decide({ interruptions: state.getInterruptions(), state });
  await runner.run(agent, state);
  return told(scripted);
}

const answering = (guarded: Model) => new Agent({ name: 'answering', model: guarded });

async function said(prompt: string, answer: string) {
  const scripted = new ScriptedModel([[assistantMessage(answer)]]);
  const result = await runner.run(answering(enforcement.model(scripted)), prompt);
  return { text: result.finalOutput, saw: JSON.stringify(scripted.calls[0]?.request.input ?? null) };
}

async function streamed(deltas: readonly string[]): Promise<string[]> {
  const scripted = new ScriptedModel([
    modelStream([
      { type: 'response_started' },
      { type: 'model', event: { raw: deltas.join('') } },
      ...deltas.map((delta) => ({ type: 'output_text_delta' as const, delta })),
      {
        type: 'response_done',
        response: {
          id: 'response-1',
          usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
          output: [assistantMessage(deltas.join(''))],
        },
      },
    ]),
  ]);
  const result = await runner.run(answering(enforcement.model(scripted)), 'go', { stream: true });
  const texts: string[] = [];
  for await (const event of result) {
    if (event.type !== 'raw_model_stream_event') continue;
    if (event.data.type === 'output_text_delta') texts.push(event.data.delta);
    if (event.data.type === 'model') texts.push(JSON.stringify(event.data));
  }
  await result.completed;
  if (result.finalOutput !== texts.join('')) texts.push(`at last: ${result.finalOutput}`);
  return texts;
}

const mails: Record<string, unknown> = {};
for (const [name, text] of Object.entries(MAILS))
  mails[name] = await call('send_mail', { text }, [enforcement.tool(mailTool)]);
await report(
  {
    mails,
    away: await call('send_mail', { text: 'away' }, [createEnforcement({ client: away }).tool(mailTool)]),
    approved: await asked(21, 'approve'),
    rejected: await asked(22, 'deny'),
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
