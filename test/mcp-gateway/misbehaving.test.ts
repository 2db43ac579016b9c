import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Gateway, readGatewayConfig, startGateway } from '../../packages/mcp-gateway/src/index.js';
import { until } from '../support/until.js';
import { mcpClient } from './gateway.support.js';
import { type Script, startScripted } from './scripted-upstream.js';

/** A gateway that asks no service, before these servers. */
async function gatewayBefore(
  upstreams: object[],
  more: object = {},
): Promise<Gateway & { url: string; lines: string[] }> {
  const none = {
    tools: 'none',
    resources: 'none',
    prompts: 'none',
    completions: 'none',
    lists: 'none',
    messages: 'none',
  };
  const settings = {
    ...{ upstreams, listen: { port: 0 }, mapping: { agent: { fixed: 'any-agent-01' } } },
    ...{ checks: none, hide_denied: false, pins: { refresh_seconds: 0 }, ...more },
  };
  const lines: string[] = [];
  const gateway = await startGateway({
    config: readGatewayConfig(JSON.stringify(settings), 'gateway.yaml', {}),
    client: {} as never,
    version: '1.0.0',
    log: (level, message) => void lines.push(`${level} ${message}`),
  });
  onTestFinished(() => gateway.close());
  return { ...gateway, url: gateway.url ?? '', lines };
}
/** Nothing is to end by time, unless a test says so. */
const CALM = { timeout_seconds: 300, answer_seconds: 300 };
const connect = (gateway: { url: string }) => mcpClient(gateway.url, '2026-07-28');
const namesOf = async (mcp: Awaited<ReturnType<typeof connect>>) =>
  (await mcp.listTools()).tools.map(({ name }) => name);

describe('a server that does not answer', () => {
  it('does not keep others from being listed and called, and is found again', async () => {
    const held: (() => void)[] = [];
    let isHeld = true;
    const good = await startScripted();
    const late = await startScripted((asked, response) => {
      if (!isHeld || asked.id === undefined) return undefined;
      held.push(() => response.destroy());
      return null;
    });
    const hole = createServer().listen(0, '127.0.0.1');
    await once(hole, 'listening');
    onTestFinished(() => void hole.close());
    const gateway = await gatewayBefore(
      [
        { name: 'good', url: good.url, ...CALM },
        { name: 'late', url: late.url, timeout_seconds: 300, answer_seconds: 0.2 },
        {
          name: 'hole',
          url: `http://127.0.0.1:${(hole.address() as AddressInfo).port}/`,
          answer_seconds: 0.2,
        },
      ],
      { metrics: { port: 0 } },
    );
    const mcp = await connect(gateway);
    expect(await namesOf(mcp)).toEqual(['good__run']);
    for (const name of ['late__run', 'hole__run'])
      await expect(mcp.callTool({ name, arguments: {} })).rejects.toMatchObject({
        code: -32_011,
        message: expect.stringContaining('does not answer; it is asked again in the background'),
      });
    await mcp.callTool({ name: 'good__run', arguments: {} });
    expect(gateway.upstreams()).toEqual({ good: 'connected', late: 'silent', hole: 'silent' });
    const metrics = await (await fetch(gateway.metricsUrl ?? '')).text();
    expect(metrics).toContain('upstream_up{upstream="hole",state="silent"} 0');
    expect(metrics).toContain('upstream_up{upstream="good",state="connected"} 1');
    const status = await fetch((gateway.metricsUrl ?? '').replace('/metrics', '/status'));
    expect(await status.json()).toEqual({ upstreams: { good: 'connected', late: 'silent', hole: 'silent' } });
    isHeld = false;
    for (const end of held) end();
    await until(
      async () => gateway.upstreams().late,
      (state) => state === 'connected',
    );
    await until(
      () => namesOf(mcp),
      (names) => names.includes('late__run'),
    );
    // On a busy machine its list may come late again.
    await until(
      () => mcp.callTool({ name: 'late__run', arguments: {} }).catch(() => ({ content: [] })),
      ({ content }) => content.length === 1,
    );
  });

  it('keeps what it told before, and calls of its tools fail', async () => {
    let isHeld = false;
    const server = await startScripted(({ method }) =>
      isHeld && method === 'tools/list' ? null : undefined,
    );
    const gateway = await gatewayBefore([
      { name: 'own', url: server.url, timeout_seconds: 300, answer_seconds: 0.2 },
    ]);
    const mcp = await connect(gateway);
    // On a busy machine the first list may come late.
    await until(
      () => namesOf(mcp),
      (names) => names.includes('own__run'),
    );
    isHeld = true;
    expect(await namesOf(mcp)).toEqual(['own__run']);
    await expect(mcp.callTool({ name: 'own__run', arguments: {} })).rejects.toMatchObject({ code: -32_011 });
  });

  it.each([
    ['JSON', 'application/json', '{"jsonrpc":"2.0","id":'],
    ['a stream', 'text/event-stream', 'event: message\ndata: {"jsonrpc":"2.0","id":'],
    ['an event', 'text/event-stream', 'event: message\ndata: {"jsonrpc":"2.0"}'],
  ])('fails a call whose answer is half of %s, and answers the next one', async (_name, type, half) => {
    let isBroken = false;
    const server = await startScripted(({ method }, response) => {
      if (!isBroken || method !== 'tools/call') return undefined;
      response.writeHead(200, { 'content-type': type });
      response.write(half, () => response.destroy());
      return null;
    });
    const gateway = await gatewayBefore([{ name: 'own', url: server.url, ...CALM }]);
    const mcp = await connect(gateway);
    isBroken = true;
    await expect(mcp.callTool({ name: 'own__run', arguments: {} })).rejects.toMatchObject({ code: -32_013 });
    isBroken = false;
    expect(await mcp.callTool({ name: 'own__run', arguments: {} })).toMatchObject({
      content: [{ text: 'ran' }],
    });
    expect(server.count('tools/call')).toBe(2);
  });
});

describe('a server that does not know its session any more', () => {
  const refuse = (response: ServerResponse, status: number, body: string): null => {
    response
      .writeHead(status, { 'content-type': body.startsWith('{') ? 'application/json' : 'text/plain' })
      .end(body);
    return null;
  };
  const error = (message: string, id: unknown = null) =>
    JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message } });
  /** Refuses the first session for all but its first requests. */
  async function forgetful(answer: (id: unknown) => [number, string]) {
    let isForgotten = false;
    const ran: string[] = [];
    const script: Script = (asked, response) => {
      const session = asked.request.headers['mcp-session-id'];
      if (isForgotten && session === 'session-1') return refuse(response, ...answer(asked.id));
      if (asked.method === 'initialize') {
        const { id } = asked;
        const count = server.count('initialize');
        response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `session-${count}` });
        const result = {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 's', version: '1' },
        };
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
        return null;
      }
      if (asked.method === 'tools/call') ran.push(String(session));
      return undefined;
    };
    const server = await startScripted((...given) => script(...given));
    const gateway = await gatewayBefore([{ name: 'own', url: server.url, ...CALM }], {
      pins: { refresh_seconds: 3600 },
    });
    const mcp = await connect(gateway);
    expect(await namesOf(mcp)).toEqual(['own__run']);
    isForgotten = true;
    return { server, mcp, ran };
  }

  it.each([
    ['404', () => [404, 'Not Found']],
    ['404 with an error', (id) => [404, error('Session not found', id)]],
    ['410', () => [410, '']],
    ['400 with an error', () => [400, error('Bad Request: No valid session ID provided')]],
    ['400 of a server that is not initialized', () => [400, error('Bad Request: Server not initialized')]],
    ['400 without a reason', () => [400, '']],
    ['an error of no request', () => [200, error('Session not found')]],
    ['an error of the request', (id) => [200, error('Session not found', id)]],
  ] as [string, (id: unknown) => [number, string]][])(
    'is initialized once for all calls, which are sent again once: %s',
    async (_name, answer) => {
      const { server, mcp, ran } = await forgetful(answer);
      const calls = await Promise.all(
        Array.from({ length: 5 }, () => mcp.callTool({ name: 'own__run', arguments: {} })),
      );
      for (const call of calls) expect(call).toMatchObject({ content: [{ text: 'ran' }] });
      expect(ran).toEqual(Array(5).fill('session-2'));
      expect(server.count('initialize')).toBe(2);
    },
  );

  it('is not meant by a tool that speaks of a session, whose call is not repeated', async () => {
    const server = await startScripted(({ method }) =>
      method === 'tools/call'
        ? '"error":{"code":-32000,"message":"session not found"}'
        : method === 'ping'
          ? '"result":{}'
          : undefined,
    );
    const gateway = await gatewayBefore([{ name: 'own', url: server.url, ...CALM }]);
    const mcp = await connect(gateway);
    await expect(mcp.callTool({ name: 'own__run', arguments: {} })).rejects.toMatchObject({ code: -32_000 });
    expect([server.count('tools/call'), server.count('initialize')]).toEqual([1, 1]);
  });

  it('is asked no third time, and a call that broke is not repeated', async () => {
    const server = await startScripted(({ method }, response) =>
      method === 'tools/call' ? refuse(response, 404, 'Not Found') : undefined,
    );
    const broken = await startScripted(({ method }, response) => {
      if (method !== 'tools/call') return undefined;
      response.destroy();
      return null;
    });
    const gateway = await gatewayBefore([
      { name: 'own', url: server.url, ...CALM },
      { name: 'broken', url: broken.url, ...CALM },
    ]);
    const mcp = await connect(gateway);
    for (const name of ['own__run', 'broken__run'])
      await expect(mcp.callTool({ name, arguments: {} })).rejects.toMatchObject({ code: -32_013 });
    expect([server.count('tools/call'), broken.count('tools/call')]).toEqual([2, 1]);
  });
});

describe('a list in pages', () => {
  const tool = (name: string) => `{"name":"${name}","inputSchema":{"type":"object"}}`;
  const page = (names: string[], next: string) =>
    `"result":{"tools":[${names.map(tool)}],"nextCursor":${next}}`;
  const cases: [string, (cursor: string | undefined, count: number) => string, string[], string?][] = [
    [
      'ends with an empty cursor',
      (c) => (c === undefined ? page(['a'], '"x"') : page(['b'], '""')),
      ['a', 'b'],
    ],
    ['ends with null', (c) => (c === undefined ? page(['a'], '"x"') : page(['b'], 'null')), ['a', 'b']],
    ['ends with a number', () => page(['a'], '7'), ['a']],
    [
      'ends where a cursor repeats',
      (c) => page([c === undefined ? 'a' : 'b'], '"x"'),
      ['a', 'b'],
      'repeats a cursor',
    ],
    [
      'ends where cursors go in a circle',
      (c) => page([c ?? 'a'], c === 'b' ? '"c"' : '"b"'),
      ['a', 'b', 'c'],
      'repeats a cursor',
    ],
    ['ends at the same page', () => page(['a', 'b'], '"x"'), ['a', 'b'], 'repeats a cursor'],
    [
      'ends at an empty page',
      (_c, n) => (n === 1 ? page(['a'], '"x"') : page([], `"${n}"`)),
      ['a'],
      'an empty page',
    ],
    [
      'ends at a page without the list',
      (c) => (c === undefined ? page(['a'], '"x"') : '"result":{}'),
      ['a'],
      'has no tools',
    ],
    [
      'ends at a page that fails',
      (c) => (c === undefined ? page(['a'], '"x"') : '"error":{"code":-32602,"message":"no"}'),
      ['a'],
      'is not told',
    ],
    [
      'ends after many pages',
      (_c, n) => page([`t${n}`], `"${n}"`),
      Array.from({ length: 64 }, (_, index) => `t${index + 1}`),
      'more than 64 pages',
    ],
  ];
  it.each(cases)('%s', async (_name, answer, names, warning) => {
    let count = 0;
    const server = await startScripted(({ method, params }) => {
      if (method !== 'tools/list') return undefined;
      count += 1;
      return answer(params.cursor, count);
    });
    const gateway = await gatewayBefore([{ name: 'own', url: server.url, ...CALM }], {
      pins: { refresh_seconds: 3600 },
    });
    const mcp = await connect(gateway);
    expect(await namesOf(mcp)).toEqual(names.map((name) => `own__${name}`));
    expect(gateway.lines.filter((line) => line.startsWith('warn upstream own: its'))).toEqual(
      warning === undefined ? [] : [expect.stringContaining(warning)],
    );
  });
});
