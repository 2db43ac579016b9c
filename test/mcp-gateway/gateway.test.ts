import type { StandardSchemaV1 } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../packages/client/src/node.js';
import { suiteService } from '../support/service-suite.js';
import { until } from '../support/until.js';
import { mcpClient, startTestGateway, type TestGateway, textOf, VERSIONS } from './gateway.support.js';
import { startUpstream, type UpstreamServer } from './upstream-server.js';

const AGENT = 'mail-agent-01';
const ADMIN = 'admin-key-of-the-gateway-tests';

const control = (path: string, pattern: string, action: object, scope: object = {}) => ({
  execution: 'server',
  scope,
  condition: { selector: { path }, evaluator: { name: 'regex', config: { pattern } } },
  action,
});
const PRE = { stages: ['pre'] };
const POST = { stages: ['post'] };
const CONTROLS = {
  'no-cards': control('input.text', '\\b\\d{16}\\b', { decision: 'deny' }, PRE),
  'no-haste': control(
    'input.text',
    'urgent',
    { decision: 'steer', steering_context: { message: 'Write it without haste.' } },
    PRE,
  ),
  'no-keys': control(
    'input.text',
    'sk-[a-z]+',
    { decision: 'deny', modify: [{ path: 'input.text', replace: 'matches', with: '[key]' }] },
    PRE,
  ),
  'no-secrets': control('output', 'SECRET|disk is full', { decision: 'deny' }, POST),
  'no-mails': control(
    'output',
    '[a-z]+@example\\.com|555-\\d+',
    { decision: 'deny', modify: [{ path: 'output', replace: 'matches', with: '[redacted]' }] },
    POST,
  ),
  'no-drops': control('name', '.*', { decision: 'deny' }, { step_names: ['drop_table'] }),
  'no-such-note': control(
    'input.uri',
    '^file:///secret',
    { decision: 'deny' },
    { step_types: ['mcp_resource'] },
  ),
  'no-mallory': control('input.name', 'Mallory', { decision: 'deny' }, { step_types: ['mcp_prompt'] }),
  'asks-first': control(
    'input.text',
    'pay',
    { decision: 'deny', approval: { approvers: ['role:admin'], separate: false } },
    PRE,
  ),
};

const service = suiteService(
  { SERVICE_API_KEY_ENABLED: 'true', SERVICE_ADMIN_API_KEYS: ADMIN },
  { headers: { 'x-api-key': ADMIN } },
);
const client = () => createClient({ baseUrl: service.url, apiKey: ADMIN, timeoutMs: 300_000 });
let shared: ReturnType<typeof client>;

beforeAll(async () => {
  await service.seed.agent(AGENT);
  for (const [name, data] of Object.entries(CONTROLS))
    await service.seed.link(AGENT, await service.seed.control(name, data));
  shared = client();
});
afterAll(() => shared?.close());

const decide = (id: number, decision: 'approve' | 'deny') =>
  service.call('POST', `/api/v1/approvals/${id}/decide`, { decision, comment: 'seen' });
const pending = async (): Promise<number[]> =>
  (await service.call('GET', '/api/v1/approvals?state=pending')).body.approvals.map(
    (one: { id: number }) => one.id,
  );
const newApproval = async (known: readonly number[]): Promise<number> =>
  (await until(pending, (ids) => ids.some((id) => !known.includes(id)))).find((id) => !known.includes(id)) ??
  0;

describe.each(['modern', 'legacy'] as const)('a gateway before a %s server', (era) => {
  let upstream: UpstreamServer;
  let gateway: TestGateway;
  beforeAll(async () => {
    upstream = await startUpstream(era);
    gateway = await startTestGateway(shared, {
      upstreams: [{ name: 'mail', url: upstream.url, max_result_bytes: 1_000_000, timeout_seconds: 300 }],
      mapping: { agent: { fixed: AGENT }, tool_names: 'plain' },
      hidden: ['hidden_*'],
    });
  });
  afterAll(async () => {
    await gateway?.close();
    await upstream?.stop();
  });

  describe.each(VERSIONS)('for a client of version %s', (version) => {
    const connect = (options: Parameters<typeof mcpClient>[2] = {}) =>
      mcpClient(gateway.url, version, options);
    const send = (mcp: Awaited<ReturnType<typeof connect>>, text: string, options = {}) =>
      mcp.callTool({ name: 'send_mail', arguments: { to: 'ann', text } }, options);

    it('passes calls on, denies, steers and changes them, and withholds and redacts results', async () => {
      const mcp = await connect();
      expect([mcp.getNegotiatedProtocolVersion(), mcp.getInstructions()]).toEqual([
        version,
        'Mails and files.',
      ]);
      upstream.ran.length = 0;
      expect(textOf(await send(mcp, 'hello'))).toBe('sent hello to ann');
      expect(textOf(await send(mcp, 'key sk-abc'))).toBe('sent key [key] to ann');
      const denied = await send(mcp, '4111111111111111');
      expect([denied.isError, textOf(denied)]).toEqual([
        true,
        expect.stringContaining('denied before it ran by "no-cards"'),
      ]);
      // How it was decided is not told to the model.
      expect(JSON.stringify(denied)).not.toContain('\\d{16}');
      expect(textOf(await send(mcp, 'urgent'))).toContain('Write it without haste.');
      expect(textOf(await send(mcp, 'SECRET'))).toContain('denied after it ran by "no-secrets"');
      expect(upstream.ran.map(([, input]) => (input as { text: string }).text)).toEqual([
        'hello',
        'key [key]',
        'SECRET',
      ]);
      const row = await mcp.callTool({ name: 'read_row', arguments: { id: '7' } });
      expect([textOf(row), row.structuredContent]).toEqual(['row 7', { id: '7', mail: '[redacted]' }]);
    });

    it('lists what the caller may call, for this caller alone', async () => {
      const mcp = await connect();
      // The first list of an agent may come before the news of its controls.
      const { tools, ...cache } = await until(
        () => mcp.listTools(),
        (listed) => listed.tools.every(({ name }) => name !== 'drop_table'),
      );
      expect(tools.map(({ name }) => name)).toEqual([
        'send_mail',
        'read_row',
        'fail',
        'big',
        'work',
        'wait',
        'at_region',
      ]);
      expect(tools[0]?.description).toBe('Sends a mail.');
      if (version === '2026-07-28') expect(cache).toMatchObject({ cacheScope: 'private', ttlMs: 0 });
      expect((await mcp.listPrompts()).prompts).toMatchObject([{ name: 'greet' }]);
      expect((await mcp.listResources()).resources).toMatchObject([{ uri: 'note://1' }]);
      expect((await mcp.listResourceTemplates()).resourceTemplates).toMatchObject([
        { uriTemplate: 'file:///{name}' },
      ]);
      // A hidden tool is none; one that is left out of the list is denied as it was.
      await expect(mcp.callTool({ name: 'hidden_tool' })).rejects.toThrow('there is no tool "hidden_tool"');
      expect(textOf(await mcp.callTool({ name: 'drop_table' }))).toContain(
        'denied before it ran by "no-drops"',
      );
    });

    it('decides about resources and prompts', async () => {
      const mcp = await connect();
      expect((await mcp.readResource({ uri: 'note://1' })).contents).toMatchObject([
        { text: 'call [redacted]' },
      ]);
      expect((await mcp.readResource({ uri: 'file:///a' })).contents).toMatchObject([{ text: 'a file' }]);
      await expect(mcp.readResource({ uri: 'file:///secret' })).rejects.toMatchObject({ code: -32_010 });
      const prompt = await mcp.getPrompt({ name: 'greet', arguments: { name: 'Ann' } });
      expect(prompt.messages).toMatchObject([{ content: { text: 'Greet Ann' } }]);
      await expect(mcp.getPrompt({ name: 'greet', arguments: { name: 'Mallory' } })).rejects.toMatchObject({
        code: -32_010,
        message: expect.stringContaining('denied before it ran by "no-mallory"'),
      });
    });

    it('passes on progress, the log, traces, errors and cancellation', async () => {
      const mcp = await connect();
      const logged: unknown[] = [];
      mcp.setNotificationHandler('notifications/message', ({ params }) => void logged.push(params.data));
      if (version === '2025-11-25') await mcp.setLoggingLevel('debug');
      const progress: unknown[] = [];
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const meta = {
        traceparent,
        ...(version === '2026-07-28' ? { 'io.modelcontextprotocol/logLevel': 'debug' } : {}),
      };
      const worked = await mcp.callTool(
        { name: 'work', arguments: {}, _meta: meta },
        { onprogress: (one) => void progress.push(one) },
      );
      expect(textOf(worked)).toBe(`traced ${traceparent}`);
      expect(progress).toEqual([{ progress: 1, total: 2 }]);
      // A server before 2026-07-28 logs as it was told to over the whole connection.
      if (era === 'legacy' || version === '2026-07-28') expect(logged).toEqual(['half done']);
      // What a tool throws is checked as a result is.
      expect(textOf(await mcp.callTool({ name: 'fail' }))).toContain('denied after it ran by "no-secrets"');
      await expect(mcp.callTool({ name: 'none' })).rejects.toMatchObject({ code: -32_602 });
      await expect(
        send(mcp, 'hello').then(() => mcp.callTool({ name: 'send_mail', arguments: {} })),
      ).resolves.toMatchObject({
        isError: true,
      });
      const { cancelled, ran } = upstream;
      const waits = ran.length;
      const leave = new AbortController();
      const waiting = mcp.callTool({ name: 'wait' }, { signal: leave.signal });
      waiting.catch(() => {});
      await until(
        () => ran.length,
        (count) => count > waits,
      );
      leave.abort(new Error('left'));
      await expect(waiting).rejects.toThrow();
      await until(
        () => upstream.cancelled,
        (count) => count === cancelled + 1,
      );
    });

    it('refuses a result that is too large, and goes on', async () => {
      const mcp = await connect();
      // Once far beyond what is read of a message: nothing depends on its size but time.
      const size = version === '2026-07-28' && era === 'modern' ? 100_000_000 : 3_000_000;
      await expect(mcp.callTool({ name: 'big', arguments: { size } })).rejects.toMatchObject({
        code: -32_012,
        data: { maxBytes: 1_000_000 },
      });
      expect(textOf(await send(mcp, 'after that'))).toBe('sent after that to ann');
    });
  });
});

describe('approvals at a gateway', () => {
  let upstream: UpstreamServer;
  let gateway: TestGateway;
  let denying: TestGateway;
  const settings = (approvals: object) => ({
    upstreams: [{ name: 'mail', url: upstream.url }],
    mapping: { agent: { fixed: AGENT }, principal: { header: 'x-user' } },
    approvals,
  });
  beforeAll(async () => {
    upstream = await startUpstream('modern');
    gateway = await startTestGateway(
      shared,
      settings({ page: 'https://controls.example.com/approvals/{id}', retry_hold_seconds: 0 }),
    );
    denying = await startTestGateway(
      shared,
      settings({ mode: 'wait', wait_seconds: 1, earlier_versions: 'deny' }),
    );
  });
  afterAll(async () => {
    await gateway?.close();
    await denying?.close();
    await upstream?.stop();
  });
  const pay = (text: string) => ({ name: 'mail__send_mail', arguments: { to: 'ann', text } });
  interface Asked {
    readonly resultType: string;
    readonly requestState: string;
    readonly inputRequests?: { readonly approval: { readonly params: { readonly url: string } } };
  }
  type Mcp = Awaited<ReturnType<typeof mcpClient>>;
  const asItIs: StandardSchemaV1<unknown, Asked> = {
    '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as Asked }) },
  };
  const call = (mcp: Mcp, params: object): Promise<Asked> =>
    mcp.request({ method: 'tools/call', params: { ...params } }, asItIs, { allowInputRequired: true });

  it('ask a client of 2026-07-28 to repeat the call, once, as it was, and until it is decided', async () => {
    const ann = await mcpClient(gateway.url, '2026-07-28', {
      headers: { 'x-user': 'ann' },
      capabilities: { elicitation: { url: {} } },
    });
    const known = await pending();
    const first = await call(ann, pay('pay 1'));
    const id = await newApproval(known);
    expect(first.resultType).toBe('input_required');
    expect(first.inputRequests?.approval.params.url).toBe(`https://controls.example.com/approvals/${id}`);
    const repeat = (mcp: Mcp, { requestState }: Asked, text = 'pay 1') =>
      call(mcp, { ...pay(text), requestState, inputResponses: { approval: { action: 'accept' } } });
    // That a person at the client says yes is no approval.
    const second = await repeat(ann, first);
    expect(second.resultType).toBe('input_required');
    const refused = { code: -32_602, message: expect.stringContaining('requestState is not valid') };
    await expect(repeat(ann, first)).rejects.toMatchObject(refused);
    await expect(repeat(ann, second, 'pay 2')).rejects.toMatchObject(refused);
    const [, body = '', mac = ''] = second.requestState.split('.');
    const forged = { ...second, requestState: `v1.${body}.${mac.slice(0, -2)}xx` };
    await expect(repeat(ann, forged)).rejects.toMatchObject(refused);
    const bob = await mcpClient(gateway.url, '2026-07-28', { headers: { 'x-user': 'bob' } });
    await expect(repeat(bob, second)).rejects.toMatchObject(refused);
    // A client that can open no page gets the state alone.
    expect((await call(bob, pay('pay 1'))).inputRequests).toEqual({});
    await decide(id, 'approve');
    upstream.ran.length = 0;
    expect(textOf(await repeat(ann, second))).toBe('sent pay 1 to ann');
    await expect(repeat(ann, second)).rejects.toMatchObject(refused);
    expect(upstream.ran).toHaveLength(1);
    // The next one is asked about again.
    expect((await call(ann, pay('pay 1'))).resultType).toBe('input_required');
  });

  it('are denied with the words of the approver, and when the person at the client declines', async () => {
    const ann = await mcpClient(gateway.url, '2026-07-28', { headers: { 'x-user': 'ann' } });
    const known = await pending();
    const { requestState } = await call(ann, pay('pay 3'));
    await decide(await newApproval(known), 'deny');
    expect(textOf(await call(ann, { ...pay('pay 3'), requestState }))).toMatch(/denied/);
    const asked = await call(ann, pay('pay 4'));
    const id = await newApproval(known);
    const inputResponses = { approval: { action: 'decline' } };
    const declined = await call(ann, { ...pay('pay 4'), requestState: asked.requestState, inputResponses });
    expect(textOf(declined)).toContain('its approval was declined');
    await until(pending, (ids) => !ids.includes(id));
  });

  it('hold a call of an earlier version with progress, or deny it with the number of the approval', async () => {
    const holding = await mcpClient(gateway.url, '2025-11-25');
    const known = await pending();
    const progress: string[] = [];
    const held = holding.callTool(pay('pay 5'), {
      onprogress: ({ message = '' }) => void progress.push(message),
    });
    const id = await newApproval(known);
    await until(
      () => progress,
      (told) => told.includes(`waits for a person to approve it (approval ${id})`),
    );
    await decide(id, 'approve');
    expect(textOf(await held)).toBe('sent pay 5 to ann');
    const denied = await mcpClient(denying.url, '2025-11-25');
    expect(textOf(await denied.callTool(pay('pay 6')))).toMatch(/a person must approve it \(approval \d+\)/);
    // A call that waits ends when its time is over.
    const waiting = await mcpClient(denying.url, '2026-07-28');
    expect(textOf(await waiting.callTool(pay('pay 7')))).toMatch(/a person must approve it \(approval \d+\)/);
  });
});
