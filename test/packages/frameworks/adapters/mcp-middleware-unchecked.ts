/** Ways by which a tool of an MCP server could run unchecked. */
import { createEnforcement } from '@control-enforcement/mcp-middleware';
import { Client } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as EarlierTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer as EarlierServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { InMemoryTransport, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { client, sendMail } from './scenario.js';

const enforcement = createEnforcement({ client, onUnchecked: () => {} });
const schema = z.object({ text: z.string() });
const info = { name: 'mailer', version: '1.0.0' };
const send = async (mail: unknown) => ({
  content: [{ type: 'text' as const, text: (await sendMail(schema.parse(mail))).answer }],
});
const safe = async () => ({ content: [{ type: 'text' as const, text: 'safe' }] });
const mail = { name: 'send_mail', arguments: { text: 'card 4111111111111111' } };
const reasonOf = (result: unknown): string =>
  /\\"reason\\":\\"(\w+)/.exec(JSON.stringify(result))?.[1] ?? 'ran';

function thrownBy(action: () => unknown): string {
  try {
    action();
    return 'nothing';
  } catch (error) {
    return String(error);
  }
}

/** Guards a server that has a tool already. */
function late(): string {
  const server = new McpServer(info);
  server.registerTool('send_mail', {}, safe);
  return thrownBy(() => enforcement.server(server));
}

/** A tool whose callback is changed after it was registered. */
async function updated(): Promise<string> {
  const server = enforcement.server(new McpServer(info));
  server.registerTool('send_mail', { inputSchema: schema }, safe).update({ callback: send });
  const caller = new Client(info);
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), caller.connect(mine)]);
  return reasonOf(await caller.callTool(mail));
}

/** The SDK before: a callback that is changed, and the older way to register. */
async function earlier(register: (server: EarlierServer) => void): Promise<string> {
  const server = enforcement.server(new EarlierServer(info));
  register(server);
  const caller = new EarlierClient(info);
  const [mine, theirs] = EarlierTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), caller.connect(mine)]);
  return reasonOf(await caller.callTool(mail));
}

function task(): string {
  const { experimental } = enforcement.server(new EarlierServer(info));
  const never = async () => {
    throw new Error('not called');
  };
  const handler = { createTask: never, getTask: never, getTaskResult: never };
  return thrownBy(() => experimental.tasks.registerToolTask('send_mail', {}, handler));
}

export async function unchecked(): Promise<object> {
  const inputSchema = { text: z.string() };
  return {
    late: late(),
    updated: await updated(),
    updatedEarlier: await earlier((server) => {
      server.registerTool('send_mail', { inputSchema }, safe).update({ callback: send });
    }),
    older: await earlier((server) => {
      server.tool('send_mail', 'Sends.', inputSchema, send);
    }),
    task: task(),
  };
}
