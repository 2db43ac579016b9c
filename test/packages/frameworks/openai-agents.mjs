import { Agent, Runner, setTracingDisabled, tool, Usage } from '@openai/agents';
import { z } from 'zod';
import { CONVERSATION, client, report, sendMail } from './tools.mjs';

setTracingDisabled(true);

await report(async (text, more) => {
  const requests = [];
  const model = {
    async getResponse(request) {
      requests.push(request);
      const call = {
        type: 'function_call',
        callId: 'call-1',
        name: 'send_mail',
        status: 'completed',
        arguments: JSON.stringify({ text }),
      };
      const message = {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'done' }],
      };
      return {
        responseId: 'response',
        output: [requests.length === 1 ? call : message],
        usage: new Usage(),
      };
    },
  };
  const agent = new Agent({
    name: 'mailer',
    instructions: CONVERSATION,
    model,
    tools: [
      tool({
        name: 'send_mail',
        description: 'Sends a mail.',
        parameters: z.object({ text: z.string() }),
        execute: client.guard(sendMail, { step: 'send_mail', ...more }),
        // Without it the model is told that an error occurred, but not what to do differently.
        ...(more === undefined ? { errorFunction: (_context, error) => error.message } : {}),
      }),
    ],
  });
  await new Runner().run(agent, CONVERSATION, { context: { conversation: CONVERSATION } });
  const result = requests[1].input.find((item) => item.type === 'function_call_result');
  return typeof result.output === 'string' ? result.output : result.output.text;
});
