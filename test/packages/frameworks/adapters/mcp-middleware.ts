import {
  createEnforcement,
  type InputRequired,
  type McpEnforcement,
} from '@control-enforcement/mcp-middleware';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as EarlierTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer as EarlierServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { unchecked } from './mcp-middleware-unchecked.js';
import { away, client, decide, MAILS, pay, report, sendMail } from './scenario.js';

const onAsk = 'input_required';
const enforcement = createEnforcement({ client, onAsk, onUnchecked: () => {} });
/** Asks with a page where the approval is decided. */
const approvalUrl = ({ id }: { id: number }) => `https://approvals.example/${id}`;
const withPage = createEnforcement({ client, onAsk, approvalUrl, onUnchecked: () => {} });

/** The first text of a result, as the data that it is. */
function told(result: object): unknown {
  const { content } = z.object({ content: z.array(z.object({ text: z.string() })) }).parse(result);
  const [first] = content;
  return first?.text.startsWith('{') ? JSON.parse(first.text) : { answer: first?.text };
}

const texts = (text: string) => ({ content: [{ type: 'text' as const, text }] });

function serverOf({ tool }: McpEnforcement<InputRequired>): McpServer {
  const server = new McpServer({ name: 'mailer', version: '1.0.0' });
  server.registerTool(
    'send_mail',
    { inputSchema: z.object({ text: z.string() }) },
    tool('send_mail', async (mail: { text: string }) => texts((await sendMail(mail)).answer)),
  );
  server.registerTool(
    'pay',
    { inputSchema: z.object({ amount: z.number() }) },
    tool('pay', async (payment: { amount: number }) => texts((await pay(payment)).answer)),
  );
  return server;
}

/** A client of MCP 2026-07-28 of a server, without a network. What it is asked, `answer` answers. */
async function modernClient(
  of: McpEnforcement<InputRequired>,
  answer: () => Promise<void> = async () => {},
): Promise<Client> {
  const handler = createMcpHandler(() => serverOf(of));
  const caller = new Client(
    { name: 'host', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    },
  );
  caller.setRequestHandler('elicitation/create', async () => {
    await answer();
    return { action: 'accept', content: { continue: true } };
  });
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
    fetch: async (url, init) => handler.fetch(new Request(url, init)),
  });
  await caller.connect(transport);
  return caller;
}

async function asked(amount: number, decision: 'approve' | 'deny', by = enforcement): Promise<unknown> {
  const caller = await modernClient(by, () => decide(decision));
  return told(await caller.callTool({ name: 'pay', arguments: { amount } }));
}

/** The SDK before: the server asks the client within the call. */
async function askedEarlier(amount: number): Promise<unknown> {
  const server = new EarlierServer({ name: 'payer', version: '1.0.0' });
  const asking = createEnforcement({
    client,
    onUnchecked: () => {},
    onAsk: (question) => server.server.elicitInput(question),
  });
  asking
    .server(server)
    .registerTool('pay', { inputSchema: { amount: z.number() } }, async (payment) =>
      texts((await pay(payment)).answer),
    );
  const caller = new EarlierClient({ name: 'host', version: '1.0.0' }, { capabilities: { elicitation: {} } });
  caller.setRequestHandler(ElicitRequestSchema, async () => {
    await decide('approve');
    return { action: 'accept', content: { continue: true } };
  });
  const [mine, theirs] = EarlierTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), caller.connect(mine)]);
  return told(await caller.callTool({ name: 'pay', arguments: { amount } }));
}

const caller = await modernClient(enforcement);
const mails: Record<string, unknown> = {};
for (const [name, text] of Object.entries(MAILS))
  mails[name] = told(await caller.callTool({ name: 'send_mail', arguments: { text } }));
const cut = await modernClient(createEnforcement({ client: away, onAsk }));
await report(
  {
    mails,
    away: told(await cut.callTool({ name: 'send_mail', arguments: { text: 'away' } })),
    approved: await asked(41, 'approve'),
    rejected: await asked(42, 'deny', withPage),
    earlier: await askedEarlier(43),
  },
  unchecked,
);
