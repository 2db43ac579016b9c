/**
 * Servers of the benchmark of the gateway for MCP, each in a process of its own: `upstream`, which has one tool, and `proxy`, which
 * passes requests on to it with the same SDK as the gateway and does nothing else. Arguments: which, and the address of the
 * upstream. Both speak 2026-07-28 without sessions, and the version before it with sessions.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest, Server } from '@modelcontextprotocol/server';
import { urlOf } from './child-server.mjs';

const [, , which, upstream = ''] = process.argv;
const TOOL = { name: 'echo', description: 'Answers with its text.', inputSchema: { type: 'object' } };
/** @type {any} */
const AS_IT_IS = {
  '~standard': { version: 1, vendor: 'bench', validate: (/** @type {unknown} */ value) => ({ value }) },
};

/** @type {(request: any) => Promise<any>} */
let answer = async ({ method, params }) =>
  method === 'tools/list'
    ? { tools: [TOOL], ttlMs: 0, cacheScope: 'private' }
    : { content: [{ type: 'text', text: params.arguments.text }] };
if (which === 'proxy') {
  const client = new Client({ name: 'plain-proxy', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(upstream)));
  answer = ({ method, params }) => client.request({ method, params }, AS_IT_IS);
}

function newServer() {
  const server = new Server({ name: String(which), version: '1' }, { capabilities: { tools: {} } });
  server.fallbackRequestHandler = answer;
  return server;
}

const modern = createMcpHandler(newServer, { legacy: 'reject' });
const serveModern = toNodeHandler(modern);
/** @type {Map<string, NodeStreamableHTTPServerTransport>} */
const sessions = new Map();

const http = createServer(async (/** @type {any} */ request, response) => {
  const id = request.headers['mcp-session-id'];
  const known = sessions.get(String(id));
  if (known !== undefined) return void known.handleRequest(request, response);
  let text = '';
  for await (const chunk of request) text += chunk;
  const body = JSON.parse(text);
  if (!(await isLegacyRequest(await toWebRequest(request, body), body)))
    return void serveModern(request, response, body);
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (session) => void sessions.set(session, transport),
  });
  await newServer().connect(transport);
  return void transport.handleRequest(request, response, body);
});
http.listen(0, '127.0.0.1');
await once(http, 'listening');
process.once('disconnect', () => process.exit());
process.send?.({ url: urlOf(http) });
