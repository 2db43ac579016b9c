import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../packages/client/src/node.js';
import { suiteService } from '../support/service-suite.js';
import { startTestGateway, type TestGateway, VERSIONS } from './gateway.support.js';
import { SECRET, startTainted, type TaintedServer } from './tainted-server.js';

const AGENT = 'tainted-agent-01';
/** What must not come to a server. */
const LEAK = 'LEAK-7b';
const control = (path: string, pattern: string, stage: string) => ({
  execution: 'server',
  scope: { stages: [stage] },
  condition: { selector: { path }, evaluator: { name: 'regex', config: { pattern } } },
  action: { decision: 'deny' },
});

const service = suiteService();
let client: ReturnType<typeof createClient>;
beforeAll(async () => {
  await service.seed.agent(AGENT);
  await service.seed.link(AGENT, await service.seed.control('no-leak', control('input', LEAK, 'pre')));
  await service.seed.link(AGENT, await service.seed.control('no-secret', control('output', SECRET, 'post')));
  client = createClient({ baseUrl: service.url, timeoutMs: 300_000 });
});
afterAll(() => client?.close());

const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: LEAK, version: LEAK },
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: { form: {}, [LEAK]: {} },
    experimental: { [LEAK]: {} },
  },
  'io.modelcontextprotocol/logLevel': 'debug',
};
const TAINTED_META = {
  progressToken: LEAK,
  traceparent: LEAK,
  tracestate: LEAK,
  baggage: LEAK,
  [LEAK]: LEAK,
};

describe.each(['modern', 'legacy'] as const)('a gateway before a %s server', (era) => {
  let upstream: TaintedServer;
  let gateway: TestGateway;
  beforeAll(async () => {
    upstream = await startTainted(era);
    gateway = await startTestGateway(client, {
      upstreams: [{ name: 'own', url: upstream.url }],
      mapping: { agent: { fixed: AGENT }, tool_names: 'plain' },
    });
  });
  afterAll(async () => {
    await gateway?.close();
    await upstream?.stop();
  });

  describe.each(VERSIONS)('for a client of version %s', (version) => {
    let session: string | undefined;
    /** Sends a request as it is given, and returns all that comes back as text. */
    async function send(method: string, params: Record<string, unknown> = {}, headers = {}): Promise<string> {
      const isModern = version === '2026-07-28';
      const meta = { ...(isModern ? MODERN_META : {}), ...(params._meta as object | undefined) };
      const name = params.name ?? params.uri;
      const sent = httpRequest(gateway.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'x-more': LEAK,
          ...(isModern ? { 'mcp-protocol-version': version, 'mcp-method': method } : {}),
          ...(isModern && name !== undefined ? { 'mcp-name': String(name) } : {}),
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
          ...headers,
        },
      });
      sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }));
      const [reply] = await once(sent, 'response');
      session ??= reply.headers['mcp-session-id'];
      let text = '';
      for await (const chunk of reply) text += chunk;
      return text;
    }
    beforeAll(async () => {
      if (version === '2026-07-28') return;
      const clientInfo = { name: LEAK, version: LEAK };
      await send('initialize', {
        ...{ protocolVersion: version, clientInfo, capabilities: { experimental: { [LEAK]: {} } } },
      });
    });

    it('keeps what controls deny from the server, wherever a client puts it', async () => {
      const call = (given: object, headers = {}) => send('tools/call', { name: 'plain', ...given }, headers);
      const passed = [
        await call({ arguments: { a: 'b' }, _meta: TAINTED_META }),
        await call({ arguments: {}, [LEAK]: LEAK, task: { ttl: 1, [LEAK]: 1 } }, { 'mcp-param-a': LEAK }),
        await call({ arguments: {}, inputResponses: { a: { action: LEAK } } }),
        await send('tools/list', { cursor: LEAK }),
      ];
      for (const text of passed) expect(text).toContain('"result"');
      const refused = [
        await call({ arguments: { a: LEAK } }),
        await call({ arguments: { [LEAK]: 1 } }),
        await call({ arguments: JSON.parse(`{"__proto__":{"a":"${LEAK}"},"constructor":"${LEAK}"}`) }),
        await call({ arguments: LEAK }),
        await call({ arguments: {}, requestState: LEAK }),
        await send('tools/call', { name: LEAK }),
        await send('resources/read', { uri: `note://${LEAK}` }),
        await send('prompts/get', { name: 'any', arguments: { a: LEAK } }),
        await send('completion/complete', {
          ref: { type: 'ref/prompt', name: 'any', title: LEAK },
          argument: { name: 'a', value: LEAK },
        }),
        await send('completion/complete', {
          ref: { type: 'ref/resource', uri: 'note://{id}' },
          ...{ argument: { name: 'a', value: 'b' }, context: { arguments: { a: LEAK } } },
        }),
        await send(LEAK, { [LEAK]: LEAK }),
        await send('resources/subscribe', { uri: LEAK }),
        await send('tasks/get', { taskId: LEAK }),
      ];
      for (const text of refused) expect(text).toMatch(/"isError":true|"error":/);
      if (version === '2026-07-28' && era === 'modern') {
        const asked = await send('tools/call', { name: 'asks', arguments: {} });
        const requestState = /"requestState":"([^"]+)"/.exec(asked)?.[1];
        const answer = (content: object) =>
          send('tools/call', {
            ...{ name: 'asks', arguments: {}, requestState },
            inputResponses: { a: { action: 'accept', content } },
          });
        expect(await answer({ who: LEAK })).toContain('denied before it ran');
        expect(await answer({ who: 'ann' })).toContain('fine');
        expect(upstream.received()).toContain('ann');
      }
      expect(upstream.received()).toContain('tools/call');
      expect(upstream.received()).not.toContain(LEAK);
    });

    it('keeps what controls withhold from the client, wherever a server puts it', async () => {
      const all: string[] = [];
      for (const name of [
        'text',
        'structured',
        'meta',
        'annotations',
        'link',
        'embedded',
        'image',
        'audio',
        'unknown',
        'failed',
        'asking',
        'thrown',
      ])
        all.push(await send('tools/call', { name, arguments: {} }));
      for (const method of ['resources/list', 'resources/templates/list', 'prompts/list'])
        all.push(await send(method));
      all.push(
        await send('resources/read', { uri: 'note://1' }),
        await send('resources/read', { uri: `slow:${'a'.repeat(60)}` }),
        await send('prompts/get', { name: 'any' }),
        await send('completion/complete', {
          ...{ ref: { type: 'ref/prompt', name: 'any' }, argument: { name: 'a', value: 'b' } },
        }),
      );
      for (const text of all) expect(text).toMatch(/"isError":true|"error":/);
      const said = await send('tools/call', { name: 'says', arguments: {}, _meta: { progressToken: 5 } });
      expect(said).toContain('fine');
      expect(said).toContain('"progress":1');
      expect(said).toContain('all is well');
      const texts = [...all, said, await send('tools/list'), await send('ping')];
      expect(texts.join('\n')).not.toContain(SECRET);
    });
  });
});
