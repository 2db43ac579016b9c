import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, ProtocolError, type Result, Server } from '@modelcontextprotocol/server';

/** What must not come out of a server. */
export const SECRET = 'SECRET-0f';

const TEXT = { type: 'text', text: 'fine' };
/** Results with the secret, each in another place. */
const RESULTS: Record<string, Result> = {
  text: { content: [{ type: 'text', text: SECRET }] },
  structured: { content: [TEXT], structuredContent: { deep: [{ [SECRET]: 1 }] } },
  meta: { content: [TEXT], _meta: { 'example.com/note': SECRET } },
  annotations: { content: [{ ...TEXT, annotations: { lastModified: SECRET } }] },
  link: { content: [{ type: 'resource_link', uri: 'note://1', name: 'n', description: SECRET }] },
  embedded: { content: [{ type: 'resource', resource: { uri: 'note://1', text: SECRET } }] },
  image: { content: [{ type: 'image', data: SECRET, mimeType: 'image/png' }] },
  audio: { content: [{ type: 'audio', data: 'AAAA', mimeType: SECRET }] },
  unknown: { content: [{ type: 'other', [SECRET]: 1 }], more: 1 },
  failed: { content: [{ type: 'text', text: SECRET }], isError: true },
  asking: {
    resultType: 'input_required',
    inputRequests: {
      a: { method: 'elicitation/create', params: { mode: 'form', message: SECRET, requestedSchema: {} } },
    },
  },
};
/** Tools that do something else than to answer with the secret. */
const OTHERS = ['thrown', 'says', 'asks', 'plain'];

export interface TaintedServer {
  readonly url: string;
  /** All bytes that came to it, as text. */
  received(): string;
  stop(): Promise<void>;
}

function tainted(): Server {
  const server = new Server(
    { name: 'own', version: '1' },
    {
      capabilities: { tools: {}, resources: {}, prompts: {}, logging: {}, completions: {} },
      instructions: 'Ask for anything.',
    },
  );
  server.fallbackRequestHandler = async ({ method, params }, ctx): Promise<Result> => {
    const { name } = (params ?? {}) as { name?: string };
    if (method === 'tools/list')
      return {
        tools: [...Object.keys(RESULTS), ...OTHERS].map((one) => ({
          name: one,
          inputSchema: { type: 'object' },
        })),
      };
    if (method === 'prompts/list') return { prompts: [{ name: 'any', description: SECRET }] };
    if (method === 'resources/list') return { resources: [{ uri: 'note://1', name: SECRET }] };
    if (method === 'resources/templates/list')
      return {
        resourceTemplates: [
          { uriTemplate: 'note://{id}', name: 'n', _meta: { a: SECRET } },
          // As a pattern that goes back it would never end.
          { uriTemplate: `slow:${'{+a}'.repeat(20)}z`, name: 's' },
        ],
      };
    if (method === 'resources/read') return { contents: [{ uri: 'note://1', text: SECRET }] };
    if (method === 'prompts/get')
      return { messages: [{ role: 'user', content: { type: 'text', text: SECRET } }] };
    if (method === 'completion/complete') return { completion: { values: [SECRET] } };
    if (name === 'thrown') throw new ProtocolError(-32_000, SECRET, { why: SECRET });
    if (name === 'says') {
      const progressToken = ctx.mcpReq._meta?.progressToken ?? 0;
      const said = { progressToken, progress: 1, message: SECRET };
      await ctx.mcpReq.notify({ method: 'notifications/progress', params: said });
      await ctx.mcpReq.log('error', { [SECRET]: 1 });
      await ctx.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress: 2, message: 'all is well' },
      });
    }
    if (name === 'asks' && ctx.mcpReq.inputResponses === undefined)
      return {
        resultType: 'input_required',
        requestState: 'own',
        inputRequests: {
          a: { method: 'elicitation/create', params: { mode: 'form', message: 'who?', requestedSchema: {} } },
        },
      };
    return RESULTS[String(name)] ?? { content: [TEXT] };
  };
  return server;
}

/** Starts a server that speaks one version, and has a secret in all that it says. */
export async function startTainted(era: 'modern' | 'legacy'): Promise<TaintedServer> {
  const handler = createMcpHandler(tainted, { legacy: 'reject' });
  const modern = toNodeHandler(handler);
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const http = createServer(async (request, response) => {
    if (era === 'modern') return void modern(request as never, response);
    const known = sessions.get(String(request.headers['mcp-session-id']));
    if (known !== undefined) return void known.handleRequest(request, response);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await tainted().connect(transport);
    return void transport.handleRequest(request, response);
  });
  let received = '';
  http.on('connection', (socket) =>
    socket.on('data', (bytes) => {
      received += String(bytes);
    }),
  );
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`,
    received: () => received,
    async stop() {
      http.close();
      http.closeAllConnections();
      await handler.close();
    },
  };
}
