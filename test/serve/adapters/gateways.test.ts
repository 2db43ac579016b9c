import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type Client, Code, ConnectError, createClient } from '@connectrpc/connect';
import { Metadata } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ExtMcp,
  type McpRequestResult,
  type McpRequestSchema,
  type McpResponseSchema,
} from '../../../gen/proto/agentgateway/dev/ext_mcp/ext_mcp_pb.js';
import { AuthzenService } from '../../../gen/proto/enforcement/v1/authzen_service_pb.js';
import { HeaderValueOption_HeaderAppendAction } from '../../../gen/proto/envoy/config/core/v3/base_pb.js';
import {
  Authorization,
  CheckRequestSchema,
} from '../../../gen/proto/envoy/service/auth/v3/external_auth_pb.js';
import { ErrorInfoSchema } from '../../../gen/proto/google/rpc/error_details_pb.js';
import { grpcJsClient, rawGrpcCall } from '../../support/grpc-js-client.js';
import { rpcTransport } from '../../support/rpc-transports.js';
import { AGENT, type GatewayService, startGatewayService } from './gateways.support.js';

const REPLACES = HeaderValueOption_HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD;

let gateway: GatewayService;
beforeAll(async () => {
  gateway = await startGatewayService();
});
afterAll(() => gateway.stop());

const withKey = (key: string) => ({ headers: { 'x-api-key': key } });
const failure = (call: Promise<unknown>): Promise<ConnectError> =>
  call.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: unknown) => ConnectError.from(error),
  );

describe('Envoy ext_authz', () => {
  let client: Client<typeof Authorization>;
  beforeAll(() => {
    client = createClient(Authorization, rpcTransport('gRPC', gateway.service.url));
  });

  interface Request {
    readonly method?: string;
    readonly path?: string;
    readonly headers?: Record<string, string>;
    readonly body?: unknown;
    readonly agent?: string | undefined;
  }
  const asked = ({ method = 'POST', path = '/mcp', headers = {}, body, agent = AGENT }: Request) => {
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    return create(CheckRequestSchema, {
      attributes: {
        request: {
          http: {
            method,
            path,
            host: 'API.example.com',
            scheme: 'https',
            headers: {
              ...(text === '' ? {} : { 'content-type': 'application/json' }),
              ...(text === '' ? {} : { 'content-length': String(Buffer.byteLength(text)) }),
              ...headers,
            },
            body: text,
          },
        },
        contextExtensions: agent === '' ? {} : { agent },
      },
    });
  };
  const tool = (name: string, args: object = {}, params: object = {}) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args, ...params },
  });
  /** What the client of the proxy gets. */
  async function reply(request: Request, key = 'gateway-key') {
    const { status, httpResponse, dynamicMetadata } = await client.check(asked(request), withKey(key));
    const set = httpResponse.value?.headers ?? [];
    // Others would be added to those that the client of the proxy sent, or that the proxy sets itself.
    expect(new Set(set.map(({ appendAction }) => appendAction))).toEqual(new Set([REPLACES]));
    const headers = Object.fromEntries(set.map(({ header }) => [header?.key, header?.value]));
    if (httpResponse.case !== 'deniedResponse')
      return { code: status?.code, headers, metadata: dynamicMetadata };
    const { status: http, body } = httpResponse.value;
    return {
      code: status?.code,
      http: http?.code,
      headers,
      problem: JSON.parse(body),
      metadata: dynamicMetadata,
    };
  }

  it('lets a request pass, with the decision for its server and for other filters', async () => {
    const decision = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(await reply({ body: tool('pay', { amount: 10 }) })).toEqual({
      code: 0,
      headers: { 'x-control-enforcement-outcome': 'allow', 'x-control-enforcement-decision-id': decision },
      metadata: { outcome: 'allow', decision_id: decision, controls: [] },
    });
  });

  it('denies a tool by its arguments, with a problem body', async () => {
    const { metadata, ...denied } = await reply({ body: tool('pay', { amount: 5000 }) });
    expect(denied).toEqual({
      code: 7,
      http: 403,
      headers: { 'content-type': 'application/problem+json' },
      problem: {
        type: 'about:blank',
        title: 'Forbidden',
        status: 403,
        detail:
          'Step "pay" was denied before it ran by "no-large-payments". A policy forbids it: do not repeat it unchanged.',
        ...metadata,
      },
    });
    expect(metadata).toMatchObject({ outcome: 'deny', controls: ['no-large-payments'] });
  });

  it('denies other requests by their method, host and path', async () => {
    const denied = await reply({ method: 'DELETE', path: '/orders/7?force=1', headers: { accept: '*/*' } });
    expect(denied).toMatchObject({ http: 403, metadata: { controls: ['nothing-deleted'] } });
    expect(await reply({ method: 'DELETE', path: '/orders/8' })).toMatchObject({ code: 0 });
  });

  it('reads the body of a resource and of a prompt as such, and any other as part of the request', async () => {
    const resource = {
      jsonrpc: '2.0',
      id: 1,
      method: 'resources/read',
      params: { uri: 'file:///etc/shadow' },
    };
    const prompt = {
      jsonrpc: '2.0',
      id: 1,
      method: 'prompts/get',
      params: { name: 'pay', arguments: { amount: 5000 } },
    };
    expect(await reply({ body: resource })).toMatchObject({
      http: 403,
      metadata: { controls: ['no-secrets'] },
    });
    expect(await reply({ body: prompt })).toMatchObject({ metadata: { controls: ['no-large-payments'] } });
    expect(await reply({ body: { file: '/etc/shadow' } })).toMatchObject({
      metadata: { controls: ['no-secrets'] },
    });
    expect(await reply({ body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } })).toMatchObject({ code: 0 });
  });

  it('steers', async () => {
    expect(await reply({ body: tool('export') })).toMatchObject({
      code: 7,
      http: 403,
      problem: { outcome: 'steer', guidance: 'Export a page at a time.', required_actions: [] },
    });
  });

  it('asks a person, and lets the same request pass once it is approved', async () => {
    const request = (id: string) => ({
      body: tool('share', { with: 'ann' }),
      headers: { 'x-request-id': id },
    });
    const waiting = await reply(request('first'));
    expect(waiting).toMatchObject({
      http: 403,
      metadata: { outcome: 'ask', approval_id: expect.any(Number) },
    });
    expect(waiting.problem).toMatchObject({
      step_sha256: expect.any(String),
      expires_at: expect.any(String),
    });
    expect((await gateway.approve(waiting.problem.approval_id)).status).toBe(200);
    expect(await reply(request('second'))).toMatchObject({ code: 0, metadata: { outcome: 'allow' } });
  });

  it('says when a limit ends', async () => {
    expect(await reply({ body: tool('search') })).toMatchObject({ code: 0 });
    const limited = await reply({ body: tool('search') });
    expect(limited).toMatchObject({
      code: 7,
      http: 429,
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    });
  });

  it('denies a step that may only run changed, because a proxy cannot change it', async () => {
    const denied = await reply({ body: tool('send_note', { text: 'the key sk-1a2b' }) });
    expect(denied).toMatchObject({ http: 403 });
    expect(denied.problem.detail).toContain('It may only run changed, which is not possible here.');
  });

  it('denies what cannot be checked as a whole, or is read in several ways', async () => {
    const pay = tool('pay', { amount: 1 });
    const cases: [Request, string][] = [
      [{ body: pay, headers: { 'content-length': '900' } }, 'is not complete'],
      [{ body: pay, headers: { 'content-length': '2, 900' } }, 'is not complete'],
      [{ headers: { 'x-envoy-auth-partial-body': 'true' } }, 'is not complete'],
      [{ body: pay, headers: { 'x-envoy-auth-partial-body': 'false,true' } }, 'is not complete'],
      [{ body: pay, headers: { 'content-encoding': 'gzip' } }, 'is compressed (gzip)'],
      [{ body: '{"jsonrpc":' }, 'is not JSON that can be checked'],
      [{ body: '{"method":"tools/call","params":{"name":"a","name":"b"}}' }, 'params.name'],
      [{ body: { Method: 'tools/call', params: {} } }, 'body.method: is written "Method", with another case'],
      [{ body: tool('pay', {}, { Name: 'other' }) }, 'params.name: is written "Name", with another case'],
      [{ body: tool('pay', {}, { argument\u017f: {} }) }, 'params.arguments: is written "argument\u017f"'],
      [
        { body: { method: 'tools/call', params: { name: 'ok' }, Params: { name: 'pay' } } },
        'body.params: is written "Params"',
      ],
      [
        { body: { method: 'tools/call', params: { name: 'ok' }, param\u017f: {} } },
        'body.params: is written',
      ],
      [
        { body: { method: 'ping', Method: 'tools/call', params: { name: 'ok' } } },
        'body.method: is written "Method"',
      ],
      [
        { body: { method: 'Tools/Call', params: { name: 'pay' } } },
        'body.method: is no method of MCP as it is written',
      ],
      [{ body: { method: 'tool\u017f/call', params: { name: 'pay' } } }, 'body.method: is no method of MCP'],
      [{ body: [{ method: 'Tools/call', params: { name: 'pay' } }] }, 'must be one message of MCP'],
      [
        { headers: { 'mcp-method': 'Tools/Call', 'mcp-name': 'pay' } },
        'headers.mcp-method: is no method of MCP',
      ],
      [{ body: `\ufeff${JSON.stringify(pay)}` }, 'is not complete'],
      [{ body: `${JSON.stringify(pay)} {}` }, 'is not JSON that can be checked'],
      [
        { body: pay, headers: { 'content-type': 'application/json; charset=utf-16' } },
        'names another character set',
      ],
      [{ body: [pay] }, 'must be one message of MCP'],
      [{ body: tool('pay', [1]) }, 'params.arguments: must be an object'],
      [
        { body: pay, headers: { 'mcp-method': 'tools/list' } },
        'headers.mcp-method: is not what the body says',
      ],
      [{ body: pay, headers: { 'mcp-name': 'other' } }, 'headers.mcp-name: is not what the body says'],
      [
        {
          body: { method: 'resources/read', params: { uri: 'file:///a' } },
          headers: { 'mcp-name': 'file:///b' },
        },
        'headers.mcp-name: is not what the body says',
      ],
      [{ body: pay, agent: '' }, 'the request names no agent'],
    ];
    for (const [request, part] of cases) {
      const refused = await reply(request);
      expect(refused, part).toMatchObject({ code: 7, http: 400, metadata: { outcome: 'error' } });
      expect(refused.problem.detail).toContain(part);
    }
    expect(await client.check({}, withKey('gateway-key'))).toMatchObject({ status: { code: 7 } });
    const both = asked({ body: tool('ok') });
    const { http } = both.attributes?.request ?? {};
    if (http !== undefined) http.rawBody = new Uint8Array(Buffer.from(JSON.stringify(pay)));
    expect(await client.check(both, withKey('gateway-key'))).toMatchObject({
      status: { code: 7, message: expect.stringContaining('raw_body: is there beside body') },
    });
  });

  it('checks by headers where the proxy sends no bodies', async () => {
    const headers = { 'content-length': '90', 'mcp-method': 'tools/call', 'mcp-name': 'export' };
    expect(await reply({ headers })).toMatchObject({ problem: { outcome: 'steer' } });
  });

  it('knows agents by the route, not by what a request says of itself, and refuses those that the key may not submit', async () => {
    const as = (agent: string): Request => ({ body: tool('export'), agent });
    const own = { body: tool('export'), agent: '', headers: { 'x-agent-name': 'free-bot-0001' } };
    expect(await reply(own)).toMatchObject({
      http: 400,
      problem: { detail: expect.stringContaining('the request names no agent') },
    });
    expect(await reply(as(AGENT))).toMatchObject({ problem: { outcome: 'steer' } });
    expect(await reply(as('unknown-bot-01'))).toMatchObject({
      http: 403,
      problem: { error_code: 'AGENT_NOT_FOUND' },
    });
    expect(await reply(as(AGENT), 'limited-key')).toMatchObject({
      http: 403,
      problem: { error_code: 'AUTH_INSUFFICIENT_PRIVILEGES' },
    });
    // A key that is limited to one agent names it.
    expect(await reply({ body: tool('export'), agent: '' }, 'limited-key')).toMatchObject({ code: 0 });
  });

  it('denies what is halted', async () => {
    const { body } = await gateway.admin('POST', '/api/v1/halts', {
      scope: 'step_name',
      step_name: 'pay',
      reason: 'the bank is closed',
    });
    const denied = await reply({ body: tool('pay', { amount: 1 }) });
    await gateway.admin('POST', `/api/v1/halts/${body.halt?.id ?? body.id}/lift`, { reason: 'over' });
    expect(denied).toMatchObject({
      http: 403,
      problem: { detail: expect.stringContaining('the bank is closed') },
    });
  });

  it('serves a client that shares no code with the service, and refuses a wrong key and garbage as gRPC does', async () => {
    const grpcJs = grpcJsClient(
      gateway.service,
      'envoy/service/auth/v3/external_auth.proto',
      'envoy.service.auth.v3.Authorization',
    );
    const metadata = (key: string) => {
      const sent = new Metadata();
      sent.set('x-api-key', key);
      sent.set('x-agent-name', AGENT);
      return sent;
    };
    const raw_body = Buffer.from(JSON.stringify(tool('export')));
    const header_map = { headers: [{ key: 'Content-Type', raw_value: Buffer.from('application/json') }] };
    const http = { method: 'POST', path: '/mcp', host: 'api', raw_body, header_map };
    const request = { attributes: { request: { http } } };
    const call = (key: string) =>
      new Promise((done) =>
        grpcJs.Check?.(request, metadata(key), (error: unknown, value: unknown) => done(error ?? value)),
      );
    expect(await call('gateway-key')).toMatchObject({
      http_response: 'denied_response',
      status: { code: 7 },
      denied_response: { status: { code: 'Forbidden' } },
    });
    expect(await call('wrong-key')).toMatchObject({ code: Code.Unauthenticated });
    grpcJs.close();
    const rpc = 'envoy.service.auth.v3.Authorization/Check';
    const garbage = await rawGrpcCall(
      gateway.service,
      rpc,
      Buffer.from([0x0a, 0xff]),
      metadata('gateway-key'),
    );
    expect(garbage.code).toBe(Code.InvalidArgument);
  });
});

describe('agentgateway ExtMcp', () => {
  let client: Client<typeof ExtMcp>;
  beforeAll(() => {
    client = createClient(ExtMcp, rpcTransport('gRPC', gateway.service.url));
  });
  const bytes = (value: unknown) =>
    new Uint8Array(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
  const json = (value: Uint8Array | undefined) => JSON.parse(Buffer.from(value ?? []).toString());
  const requested = (request: MessageInitShape<typeof McpRequestSchema>, key = 'gateway-key') =>
    client.checkRequest(
      { method: 'tools/call', serviceNames: ['files'], metadataContext: { agent: AGENT }, ...request },
      withKey(key),
    );
  const answered = (request: MessageInitShape<typeof McpResponseSchema>) =>
    client.checkResponse(
      {
        method: 'tools/call',
        serviceNames: ['files'],
        metadataContext: { agent: AGENT, step: 'read_file' },
        ...request,
      },
      withKey('gateway-key'),
    );
  const call = (name: string, args: object = {}) => ({ mcpRequest: bytes({ name, arguments: args }) });
  const errorOf = ({ result }: Pick<McpRequestResult, 'result'>) => {
    if (result.case !== 'error') throw new Error(`it is ${result.case}`);
    return result.value;
  };
  const [PERMISSION_DENIED, RESOURCE_EXHAUSTED, INVALID] = [1, 2, 3];

  it('lets requests pass, with the decision', async () => {
    expect(await requested(call('pay', { amount: 10 }))).toMatchObject({
      result: { case: 'pass' },
      metadata: { outcome: 'allow', decision_id: expect.any(String), controls: [] },
    });
  });

  it('denies, with a reason that a model understands', async () => {
    const denied = await requested(call('pay', { amount: 5000 }));
    expect(errorOf(denied)).toMatchObject({
      code: PERMISSION_DENIED,
      reason: expect.stringContaining('by "no-large-payments"'),
    });
    expect(denied.metadata).toMatchObject({ outcome: 'deny', controls: ['no-large-payments'] });
    const resource = await requested({
      method: 'resources/read',
      mcpRequest: bytes({ uri: 'file:///etc/shadow' }),
    });
    expect(errorOf(resource).code).toBe(PERMISSION_DENIED);
    const prompt = await requested({ method: 'prompts/get', ...call('pay', { amount: 5000 }) });
    expect(errorOf(prompt).code).toBe(PERMISSION_DENIED);
  });

  it('changes the arguments of a request, and nothing else', async () => {
    const { result, metadata } = await requested({
      mcpRequest: bytes(
        '{"name":"send_note","arguments":{"text":"the key sk-1a2b","n":12345678901234567890},"_meta":{"a":1}}',
      ),
    });
    expect(result.case).toBe('mutated');
    expect(Buffer.from(result.value as Uint8Array).toString()).toBe(
      '{"name":"send_note","arguments":{"text":"the key [redacted]","n":12345678901234567890},"_meta":{"a":1}}',
    );
    expect(metadata).toMatchObject({ outcome: 'modify' });
  });

  it('steers, and asks a person, with the data of an error of JSON-RPC', async () => {
    const steered = errorOf(await requested(call('export')));
    expect(steered.reason).toContain('Export a page at a time.');
    expect(json(steered.mcpError)).toEqual({
      outcome: 'steer',
      decision_id: expect.any(String),
      controls: ['exports-by-page'],
      guidance: 'Export a page at a time.',
      required_actions: [],
    });
    const waiting = errorOf(await requested(call('share', { what: 'mcp' })));
    const data = json(waiting.mcpError);
    expect([waiting.code, data.outcome]).toEqual([PERMISSION_DENIED, 'ask']);
    expect((await gateway.approve(data.approval_id)).status).toBe(200);
    expect((await requested(call('share', { what: 'mcp' }))).result.case).toBe('pass');
  });

  it('tells limits and what is not of its method from denials', async () => {
    await requested(call('search'));
    expect(errorOf(await requested(call('search')))).toMatchObject({
      code: RESOURCE_EXHAUSTED,
      reason: expect.stringContaining('A limit is reached'),
    });
    for (const [mcpRequest, part] of [
      ['nothing', 'mcp_request: is not JSON'],
      ['[]', 'params: must be an object'],
      ['', 'params.name: must be a text'],
      ['{"name":"pay","arguments":1}', 'params.arguments: must be an object'],
      ['{"name":"ok","argument\u017f":{}}', 'params.arguments: is written "argument\u017f"'],
      ['{"name":"ok","NAME":"pay"}', 'params.name: is written "NAME"'],
      ['{"name":"ok","_meta":{"ProgressToken":1}}', 'params._meta.progressToken: is written "ProgressToken"'],
      ['{"name":"ok","name":"pay"}', 'mcp_request: is not JSON that can be checked'],
      ['{"name":"pay","name":"other"}', 'mcp_request: is not JSON that can be checked'],
      ['{"name":"pay","Arguments":{}}', 'params.arguments: is written "Arguments", with another case'],
    ] as const) {
      expect(errorOf(await requested({ mcpRequest: bytes(mcpRequest) })), part).toMatchObject({
        code: INVALID,
        reason: expect.stringContaining(part),
      });
    }
  });

  it('redacts and denies results, whose tool the configuration of the gateway names', async () => {
    const content = (text: string) => ({ content: [{ type: 'text', text }], isError: false });
    const passed = await answered({ mcpResponse: bytes(content('nothing')) });
    expect(passed.result.case).toBe('pass');
    const { result } = await answered({ mcpResponse: bytes(content('the key sk-1a2b')) });
    expect(result.case).toBe('mutated');
    expect(json(result.value as Uint8Array)).toEqual(content('the key [redacted]'));
    const resource = { contents: [{ uri: 'file:///a', text: 'sk-1a2b' }] };
    const read = await answered({
      method: 'resources/read',
      metadataContext: { agent: AGENT },
      mcpResponse: bytes(resource),
    });
    expect(json(read.result.value as Uint8Array).contents).toEqual([
      { uri: 'file:///a', text: '[redacted]' },
    ]);
    const unnamed = await answered({ metadataContext: { agent: AGENT }, mcpResponse: bytes(content('x')) });
    expect(errorOf(unnamed)).toMatchObject({
      code: INVALID,
      reason: expect.stringContaining('names no step'),
    });
    expect(errorOf(await answered({ mcpResponse: bytes('garbage') })).code).toBe(INVALID);
  });

  it('tells which controls only observe', async () => {
    const { result, metadata } = await requested(call('list_notes'));
    expect([result.case, metadata]).toMatchObject(['pass', { outcome: 'allow', controls: ['sees-notes'] }]);
  });

  it('denies methods and results that others read differently', async () => {
    for (const method of ['Tools/Call', 'tool\u017f/call', ' tools/call', 'RESOURCES/READ'])
      expect(errorOf(await requested({ ...call('pay'), method }))).toMatchObject({
        code: INVALID,
        reason: expect.stringContaining('method: is no method of MCP as it is written'),
      });
    for (const result of [
      { Content: [] },
      { content: [{ type: 'text', Text: 'x' }] },
      { 'i\u017fError': true },
    ])
      expect((await answered({ mcpResponse: bytes(result) })).result).toMatchObject({
        case: 'error',
        value: { reason: expect.stringContaining('with another case of its letters') },
      });
  });

  it('lets other methods pass unseen', async () => {
    expect((await requested({ method: 'tools/list', metadataContext: {} })).result.case).toBe('pass');
    expect((await answered({ method: 'tools/list', metadataContext: {} })).result.case).toBe('pass');
  });

  it('knows agents by what the gateway says, and refuses unknown ones and those that the key may not submit', async () => {
    const as = (agent: string) => ({ ...call('export'), metadataContext: { agent } });
    const own = { headers: [{ key: 'X-Agent-Name', value: bytes(AGENT) }] };
    expect(errorOf(await requested(as(AGENT))).reason).toContain('Export a page at a time.');
    expect(errorOf(await requested(as('unknown-bot-01')))).toMatchObject({
      code: PERMISSION_DENIED,
      reason: expect.stringContaining('unknown-bot-01'),
    });
    expect(errorOf(await requested(as(AGENT), 'limited-key')).code).toBe(PERMISSION_DENIED);
    expect((await requested({ ...call('export'), metadataContext: {} }, 'limited-key')).result.case).toBe(
      'pass',
    );
    expect(errorOf(await requested({ ...call('export'), ...own, metadataContext: {} })).reason).toContain(
      'names no agent',
    );
    expect((await failure(requested(call('export'), 'wrong-key'))).code).toBe(Code.Unauthenticated);
  });

  it('serves a client that shares no code with the service', async () => {
    const grpcJs = grpcJsClient(
      gateway.service,
      'agentgateway/dev/ext_mcp/ext_mcp.proto',
      'agentgateway.dev.ext_mcp.ExtMcp',
    );
    const metadata = new Metadata();
    metadata.set('authorization', 'Bearer gateway-key');
    metadata.set('x-agent-name', AGENT);
    const mcp_request = Buffer.from('{"name":"pay","arguments":{"amount":5000}}');
    const answer = await new Promise((done) =>
      grpcJs.CheckRequest?.(
        { method: 'tools/call', mcp_request },
        metadata,
        (error: unknown, value: unknown) => done(error ?? value),
      ),
    );
    expect(answer).toMatchObject({ result: 'error', error: { code: 'PERMISSION_DENIED' } });
    grpcJs.close();
  });
});

it('an adapter that is off is an RPC that is not implemented, and the error says how to switch it on', async () => {
  const off = createClient(AuthzenService, rpcTransport('gRPC', gateway.service.url));
  const access = {
    subject: { type: 'agent', id: AGENT },
    action: { name: 'a' },
    resource: { type: 'b', id: 'c' },
  };
  const error = await failure(off.evaluateAccess(access, withKey('gateway-key')));
  expect([error.code, error.rawMessage]).toEqual([Code.Unimplemented, 'The adapter "authzen" is off.']);
  expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
    {
      reason: 'ADAPTER_OFF',
      metadata: { hint: expect.stringContaining('SERVICE_ADAPTERS=ext-authz,ext-mcp,authzen') },
    },
  ]);
});
