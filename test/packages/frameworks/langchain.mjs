import { tool } from '@langchain/core/tools';
import { z } from 'zod';
import { CONVERSATION, client, report, sendMail } from './tools.mjs';

await report(async (text, more) => {
  const mail = tool(client.guard(sendMail, { step: 'send_mail', ...more }), {
    name: 'send_mail',
    description: 'Sends a mail.',
    schema: z.object({ text: z.string() }),
  });
  const call = { type: 'tool_call', id: 'call-1', name: 'send_mail', args: { text } };
  const config = { configurable: { conversation: CONVERSATION }, metadata: { conversation: CONVERSATION } };
  return (await mail.invoke(call, config)).content;
});
