import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { type CallToolResult, completable, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** An image of one pixel, and a sound of none. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';
const text = (value: string) => ({ type: 'text' as const, text: value });
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };
const resource = (uri: string, value: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType: 'text/plain', text: value },
});

/** The tools, resources and prompts that the scenarios of @modelcontextprotocol/conformance call by their names. */
function conformanceServer(): McpServer {
  const server = new McpServer(
    { name: 'conformance-server', version: '1.0.0' },
    { capabilities: { logging: {} } },
  );
  const tool = (name: string, content: CallToolResult['content'], isError = false): void =>
    void server.registerTool(name, { description: name }, () => ({ content, isError }));
  tool('test_simple_text', [text('This is a simple text response for testing.')]);
  tool('test_image_content', [image]);
  tool('test_audio_content', [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }]);
  tool('test_embedded_resource', [
    resource('test://embedded-resource', 'This is an embedded resource content.'),
  ]);
  tool('test_multiple_content_types', [
    text('Multiple content types test:'),
    image,
    resource('test://mixed', '{}'),
  ]);
  tool('test_error_handling', [text('This tool intentionally returns an error for testing')], true);
  server.registerTool('test_tool_with_logging', { description: 'Logs' }, async (ctx) => {
    for (const line of ['started', 'processing', 'completed'])
      await ctx.mcpReq.log('info', `Tool execution ${line}`);
    return { content: [text('logged')] };
  });
  server.registerTool('test_tool_with_progress', { description: 'Tells progress' }, async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken ?? 0;
    for (const progress of [0, 50, 100])
      await ctx.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 100 },
      });
    return { content: [text(String(progressToken))] };
  });
  server.registerResource(
    'static-text',
    'test://static-text',
    { mimeType: 'text/plain' },
    ({ href: uri }) => ({
      contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
    }),
  );
  server.registerResource(
    'static-binary',
    'test://static-binary',
    { mimeType: 'image/png' },
    ({ href: uri }) => ({
      contents: [{ uri, mimeType: 'image/png', blob: PNG }],
    }),
  );
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource(
    'template',
    template,
    { mimeType: 'application/json' },
    ({ href: uri }, { id }) => ({
      contents: [
        {
          uri,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  );
  const prompt = (...content: (ReturnType<typeof text> | typeof image | ReturnType<typeof resource>)[]) => ({
    messages: content.map((one) => ({ role: 'user' as const, content: one })),
  });
  server.registerPrompt('test_simple_prompt', { description: 'Simple' }, () =>
    prompt(text('This is a simple prompt for testing.')),
  );
  const argument = completable(z.string(), (typed) =>
    ['paris', 'park', 'party'].filter((one) => one.startsWith(typed)),
  );
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'With arguments', argsSchema: z.object({ arg1: argument, arg2: z.string() }) },
    ({ arg1, arg2 }) => prompt(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'With arguments', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) =>
      prompt(resource(resourceUri, 'Embedded resource content for testing.'), text('Process it.')),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'Image' }, () =>
    prompt(image, text('Please analyze the image above.')),
  );
  return server;
}

/** Starts it, with sessions as versions before 2026-07-28 have them. */
export async function startConformanceServer(): Promise<{ readonly url: string; stop(): void }> {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const http = createServer(async (request, response) => {
    const known = sessions.get(String(request.headers['mcp-session-id']));
    if (known !== undefined) return void known.handleRequest(request, response);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await conformanceServer().connect(transport);
    return void transport.handleRequest(request, response);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`,
    stop() {
      http.close();
      http.closeAllConnections();
    },
  };
}
