/** One-liners of a strict consumer: no cast, no `any`, no try and catch, no mapping by hand. Compiled, not run. */
import { createClient } from '@control-enforcement/client';
import { tool as langchainTool } from '@langchain/core/tools';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { tool as agentsTool } from '@openai/agents';
import { tool as aiTool } from 'ai';
import { z } from 'zod';

const client = createClient({ baseUrl: 'http://localhost:8000', agent: 'billing-bot-01' });
const sendMail = async ({ text }: { text: string }) => `sent ${text}`;
const schema = z.object({ text: z.string() });

export const ofAiSdk = aiTool({
  inputSchema: schema,
  execute: client.guard(
    (mail: { text: string }, _options: { toolCallId: string; abortSignal?: AbortSignal }) => sendMail(mail),
    {
      step: 'send_mail',
      stepId: (_mail, { toolCallId }) => toolCallId,
      signal: (_mail, { abortSignal }) => abortSignal,
      onRefused: (error) => error.message,
    },
  ),
});

export const ofAgentsSdk = agentsTool({
  name: 'send_mail',
  description: 'Sends a mail.',
  parameters: schema,
  execute: client.guard(sendMail, { step: 'send_mail', onRefused: (error) => error.message }),
});

export const ofLangchain = langchainTool(
  client.guard(sendMail, { step: 'send_mail', onRefused: (error) => error.message }),
  { name: 'send_mail', description: 'Sends a mail.', schema },
);

const server = new McpServer({ name: 'mailer', version: '1.0.0' });
server.registerTool(
  'send_mail',
  { inputSchema: { text: z.string() } },
  client.guard(
    async (mail: { text: string }) => ({ content: [{ type: 'text', text: await sendMail(mail) }] }),
    {
      step: 'send_mail',
      onRefused: (error) => ({ content: [{ type: 'text', text: error.message }], isError: true }),
    },
  ),
);

/** A positional argument whose input a control may change, and an approval that is waited for by day only. */
export const forecast: (city: string) => Promise<string> = client.guard(
  async (city: string) => `sunny in ${city}`,
  {
    step: 'forecast',
    input: (city) => ({ city }),
    changedArgs: (input) => [(input as { city: string }).city],
    onAsk: async (approval, step) =>
      approval.state === 'pending' && step.name === 'forecast' && new Date().getHours() < 18
        ? 'wait'
        : 'throw',
    maxWaitMs: 60_000,
  },
);

/** The result is typed as what the tool returns, or what a refusal is made into. */
export const counted: (mail: { text: string }) => Promise<number | null> = client.guard(
  async ({ text }: { text: string }) => text.length,
  { step: 'count', onRefused: () => null },
);
