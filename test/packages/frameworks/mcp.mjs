import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { CONVERSATION, client, report, sendMail } from './tools.mjs';

const told = (error) => ({ content: [{ type: 'text', text: `told: ${error.message}` }], isError: true });

await report(async (text, more) => {
  const server = new McpServer({ name: 'mailer', version: '1.0.0' });
  server.registerTool(
    'send_mail',
    { description: 'Sends a mail.', inputSchema: { text: z.string() } },
    client.guard(async (mail) => ({ content: [{ type: 'text', text: await sendMail(mail) }] }), {
      step: 'send_mail',
      ...more,
    }),
  );
  const caller = new Client({ name: 'host', version: '1.0.0' });
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), caller.connect(mine)]);
  const call = { name: 'send_mail', arguments: { text }, _meta: { conversation: CONVERSATION } };
  const { content } = await caller.callTool(call);
  await caller.close();
  return content[0].text;
}, told);
