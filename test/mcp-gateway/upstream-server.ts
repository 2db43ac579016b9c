import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  type McpHttpHandler,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/** A server behind the gateway, of the official SDK, and what its tools were called with. */
export interface UpstreamServer {
  readonly url: string;
  /** Names of tools with their arguments, in the order of calls. */
  readonly ran: [name: string, input: unknown][];
  /** Headers of the requests so far, the last one at the end. */
  readonly headers: NodeJS.Dict<string | string[]>[];
  /** How many calls of `wait` the client has cancelled. */
  cancelled: number;
  /** The description of `send_mail`, which the server can change. */
  description: string;
  readonly handler: McpHttpHandler;
  stop(): Promise<void>;
}

function toolsOf(own: Pick<UpstreamServer, 'ran' | 'cancelled' | 'description'>): McpServer {
  const server = new McpServer(
    { name: 'upstream', version: '1.0.0' },
    { capabilities: { logging: {}, tools: { listChanged: true } }, instructions: 'Mails and files.' },
  );
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
  const took = (name: string, input: unknown): void => void own.ran.push([name, input]);
  server.registerTool(
    'send_mail',
    { description: own.description, inputSchema: z.object({ to: z.string(), text: z.string() }) },
    (input) => {
      took('send_mail', input);
      return text(`sent ${input.text} to ${input.to}`);
    },
  );
  server.registerTool('read_row', { inputSchema: z.object({ id: z.string() }) }, (input) => {
    took('read_row', input);
    return { ...text(`row ${input.id}`), structuredContent: { id: input.id, mail: 'ann@example.com' } };
  });
  server.registerTool('drop_table', {}, () => text('dropped'));
  server.registerTool('fail', {}, () => {
    throw new Error('disk is full');
  });
  server.registerTool('big', { inputSchema: z.object({ size: z.int() }) }, ({ size }) =>
    text('x'.repeat(size)),
  );
  server.registerTool('work', {}, async (ctx) => {
    const { _meta: meta } = ctx.mcpReq;
    const token = meta?.progressToken;
    await ctx.mcpReq.log('warning', 'half done');
    if (token !== undefined)
      await ctx.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken: token, progress: 1, total: 2 },
      });
    return text(`traced ${String(meta?.traceparent)}`);
  });
  server.registerTool('wait', {}, async (ctx) => {
    took('wait', {});
    await new Promise<void>((resolve) => {
      ctx.mcpReq.signal.addEventListener('abort', () => {
        own.cancelled += 1;
        resolve();
      });
    });
    return text('never');
  });
  const region = z.string().meta({ 'x-mcp-header': 'Region' });
  server.registerTool('at_region', { inputSchema: z.object({ region }) }, (input) => text(input.region));
  server.registerTool('hidden_tool', {}, () => text('hidden'));
  server.registerResource('note', 'note://1', {}, () => ({
    contents: [{ uri: 'note://1', text: 'call 555-1234' }],
  }));
  server.registerResource('file', new ResourceTemplate('file:///{name}', { list: undefined }), {}, (uri) => ({
    contents: [{ uri: uri.href, text: 'a file' }],
  }));
  server.registerPrompt('greet', { argsSchema: z.object({ name: z.string() }) }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}` } }],
  }));
  return server;
}

/** Starts it on a free port; `era` is the only version that it speaks. */
export async function startUpstream(era: 'modern' | 'legacy'): Promise<UpstreamServer> {
  const own = {
    ran: [] as UpstreamServer['ran'],
    headers: [] as UpstreamServer['headers'],
    cancelled: 0,
    description: 'Sends a mail.',
  };
  const handler = createMcpHandler(() => toolsOf(own), { legacy: 'reject' });
  const modern = toNodeHandler(handler);
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const http = createServer(async (request, response) => {
    own.headers.push(request.headers);
    if (era === 'modern')
      return void modern(request as typeof request & { method: string; url: string }, response);
    const known = sessions.get(String(request.headers['mcp-session-id']));
    if (known !== undefined) return void known.handleRequest(request, response);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await toolsOf(own).connect(transport);
    return void transport.handleRequest(request, response);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  return Object.assign(own, {
    url: `http://127.0.0.1:${port}/`,
    handler,
    async stop() {
      http.close();
      http.closeAllConnections();
      await handler.close();
    },
  });
}
