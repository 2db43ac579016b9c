import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ANONYMOUS, type Handler, type HandlerCall } from '../../../src/contract/call/handler.js';
import type { AdapterName } from '../../../src/contract/config/adapter-names.js';
import { ERROR_TABLE } from '../../../src/contract/errors/error-table.js';
import { ServiceError } from '../../../src/contract/errors/service-error.js';
import type { EvaluateRequest } from '../../../src/decide/decisions/evaluate-request.js';
import type { EvaluationService } from '../../../src/decide/decisions/evaluation-service.js';
import { createExtAuthz } from '../src/ext-authz/ext-authz.js';
import { createExtMcp } from '../src/ext-mcp/ext-mcp.js';
import { createAdapterEvaluations } from '../src/steps/adapter-evaluations.js';
import { readMappings } from '../src/steps/mapping-file.js';

const NAMES: readonly AdapterName[] = ['ext-authz', 'ext-mcp'];
const AGENT = 'gateway-bot-01';

/** Both adapters over evaluations that fail; what reached them, and what was told. */
function adapters(error: Error, on = NAMES, failOpen: readonly AdapterName[] = [], mappings = '') {
  const received: EvaluateRequest[] = [];
  const told: object[] = [];
  const evaluations = createAdapterEvaluations({
    evaluation: {
      evaluate(request: EvaluateRequest) {
        received.push(request);
        return Promise.reject(error);
      },
    } as unknown as EvaluationService,
    on,
    failOpen,
    mappings: readMappings(mappings, 'adapters.yaml'),
    meter: { adapted: (adapter, outcome) => void told.push({ adapter, outcome }) },
    failures: { told: (_level, _about, _message, facts) => void told.push(facts as object) },
  });
  const call = { principal: ANONYMOUS, signal: new AbortController().signal, header: () => undefined };
  const run = (handler: Handler, message: object) =>
    Promise.resolve(handler.handle(handler.input.parse(message), call as unknown as HandlerCall));
  return {
    received,
    told,
    authz: (http: object, attributes: object = { context_extensions: { agent: AGENT } }) =>
      run(createExtAuthz(evaluations).check, { attributes: { ...attributes, request: { http } } }),
    mcp: (message: object) =>
      run(createExtMcp(evaluations).checkRequest, {
        method: 'tools/call',
        metadata_context: { agent: AGENT },
        mcp_request: '{"name":"pay"}',
        ...message,
      }),
  };
}

const NOT_NOW = new ServiceError('SERVICE_UNAVAILABLE', { detail: 'no controls yet' });
const GET = { method: 'GET', path: '/a?b=c', host: 'Api' };

describe('the adapters of gateways, of a service that cannot evaluate', () => {
  it('deny, and say that nothing was evaluated', async () => {
    const { authz, mcp, told } = adapters(NOT_NOW);
    expect(await authz(GET)).toMatchObject({
      status: { code: 7 },
      denied_response: {
        status: { code: 'serviceunavailable' },
        body: expect.stringContaining('SERVICE_UNAVAILABLE'),
      },
    });
    expect(await mcp({})).toMatchObject({
      error: { code: 'unknown', reason: expect.stringContaining('could not be checked') },
    });
    expect(told).toEqual(NAMES.map((adapter) => ({ adapter, outcome: 'error' })));
  });

  it('let steps pass where a setting says so, with a warning', async () => {
    const { authz, mcp, told } = adapters(NOT_NOW, NAMES, NAMES);
    expect(await authz(GET)).toMatchObject({
      status: { code: 0 },
      dynamic_metadata: { outcome: 'unchecked' },
    });
    expect(await mcp({})).toEqual({ pass: {}, metadata: { outcome: 'unchecked' } });
    expect(told).toContainEqual({
      adapter: 'ext-mcp',
      agent: AGENT,
      step: 'pay',
      because: 'no controls yet',
    });
  });

  it('count what they refuse', async () => {
    const { authz, mcp, told } = adapters(new ServiceError('AGENT_NOT_FOUND', { detail: 'no such agent' }));
    expect(await authz(GET)).toMatchObject({ denied_response: { status: { code: 'forbidden' } } });
    expect(await mcp({ mcp_request: '[]' })).toMatchObject({ error: { code: 'invalid' } });
    expect(told).toEqual(NAMES.map((adapter) => ({ adapter, outcome: 'refused' })));
  });

  it('pass on faults, and that they are off, as errors of the call', async () => {
    const fault = new Error('a fault');
    await expect(adapters(fault).authz(GET)).rejects.toBe(fault);
    await expect(adapters(fault).mcp({})).rejects.toBe(fault);
    const off = adapters(NOT_NOW, []);
    for (const call of [off.authz({}), off.mcp({ method: 'tools/list' })]) {
      await expect(call).rejects.toMatchObject({
        code: 'ADAPTER_OFF',
        options: { hint: expect.stringContaining('SERVICE_ADAPTERS=') },
      });
    }
    expect(ERROR_TABLE.ADAPTER_OFF.grpcCode).toBe(12);
  });
});

describe('steps of requests of HTTP', () => {
  it('have neither credentials nor what differs when the request is repeated', async () => {
    const { authz, received } = adapters(NOT_NOW);
    const headers = {
      ':authority': 'api',
      authorization: 'Bearer a',
      cookie: 'b',
      'x-api-key': 'c',
      'x-auth-token': 'd',
      'x-forwarded-client-cert': 'e',
      'x-request-id': 'f',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'x-session-id': 's-1',
      'x-step-id': 'step-1',
      accept: 'text/html',
    };
    await authz(
      { ...GET, scheme: 'https', headers, size: 0n },
      {
        context_extensions: { agent: AGENT, tier: 'gold' },
        source: { principal: 'spiffe://example.com/bot' },
      },
    );
    expect(received).toMatchObject([
      {
        agentName: AGENT,
        stage: 'pre',
        step: {
          type: 'http_request',
          name: 'GET api/a',
          input: {
            method: 'GET',
            scheme: 'https',
            host: 'api',
            path: '/a',
            query: 'b=c',
            body: null,
          },
          context: {
            source: 'spiffe://example.com/bot',
            destination: '',
            route: { agent: AGENT, tier: 'gold' },
          },
        },
        options: {
          sessionId: 's-1',
          stepId: 'step-1',
          traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
          accepts: ['allow', 'deny', 'steer', 'ask'],
        },
      },
    ]);
    expect(received[0]?.step.input).toHaveProperty('headers', { accept: 'text/html' });
  });

  it('take the agent from what other filters say, whose names have points', async () => {
    const path = 'attributes.metadata_context.filter_metadata.envoy.filters.http.jwt_authn.payload.sub';
    const { authz, received } = adapters(NOT_NOW, NAMES, [], `ext-authz:\n  agent: [member ${path}]\n`);
    const filter_metadata = { 'envoy.filters.http.jwt_authn': { payload: { sub: 'token-bot-001' } } };
    await authz({ ...GET, headers: { 'x-agent-name': AGENT } }, { metadata_context: { filter_metadata } });
    expect(received.map(({ agentName }) => agentName)).toEqual(['token-bot-001']);
  });

  it('are tools by what the MCP filter of the proxy read', async () => {
    const { authz, received } = adapters(NOT_NOW);
    const read = { method: 'tools/call', params: { name: 'pay', arguments: { amount: 1 } } };
    const filter_metadata = { 'envoy.filters.http.mcp': read };
    await authz(
      { ...GET, method: 'POST' },
      { context_extensions: { agent: AGENT }, metadata_context: { filter_metadata } },
    );
    expect(received.map(({ step }) => step)).toMatchObject([
      { type: 'tool', name: 'pay', input: { amount: 1 } },
    ]);
  });

  it('read names of MCP in headers that are in base64', async () => {
    const { authz, received } = adapters(NOT_NOW);
    const named = `=?base64?${Buffer.from('zahlen€').toString('base64')}?=`;
    await authz({ ...GET, headers: { 'mcp-method': 'tools/call', 'mcp-name': named } });
    await authz({ ...GET, headers: { 'mcp-method': 'resources/read', 'mcp-name': 'file:///a' } });
    expect(received.map(({ step }) => [step.type, step.name])).toEqual([
      ['tool', 'zahlen€'],
      ['mcp_resource', 'resources/read'],
    ]);
  });

  it('have the text of a body that is no JSON', async () => {
    const { authz, received } = adapters(NOT_NOW);
    await authz({ ...GET, headers: { 'content-type': 'text/plain' }, raw_body: 'hello' });
    expect(received[0]?.step.input).toMatchObject({ body: 'hello' });
  });
});

describe('messages of any content', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.constantFrom(
      'tools/call',
      'resources/read',
      'prompts/get',
      '{"method":"tools/call"}',
      '__proto__',
      '[{',
    ),
  );
  const headers = fc.dictionary(
    fc.oneof(
      fc.constantFrom('content-type', 'content-length', 'content-encoding', 'mcp-method', 'mcp-name'),
      text,
    ),
    text,
  );
  const members = { method: text, path: text, host: text, scheme: text, headers, body: text, raw_body: text };
  const seed = { numRuns: 300 };

  it('are denied or evaluated, and never a fault of the service', async () => {
    const { authz, mcp, received } = adapters(NOT_NOW);
    await fc.assert(
      fc.asyncProperty(fc.record(members, { requiredKeys: [] }), async (http) => {
        expect(await authz(http)).toMatchObject({ status: { code: 7 } });
      }),
      seed,
    );
    const method = fc.constantFrom('tools/call', 'resources/read', 'prompts/get');
    await fc.assert(
      fc.asyncProperty(fc.record({ method, mcp_request: text }), async (message) => {
        expect(await mcp(message)).toHaveProperty('error');
      }),
      seed,
    );
    expect(received.length).toBeGreaterThan(0);
  });
});
