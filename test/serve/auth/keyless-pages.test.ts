import { once } from 'node:events';
import http2 from 'node:http2';
import { create, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import type { FastifyRequest } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AddAgentControlRequestSchema } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { keylessPageCheck } from '../../../src/serve/auth/request-origin.js';
import { exchange, type HttpAnswer, type HttpExchange, restClient } from '../../support/http.js';
import { seeder } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';
import { testService } from '../../support/service-suite.js';
import { framed } from '../lane/exchange.js';

const AGENT = 'unguarded-agent';
const LISTED = 'https://console.example:4000';
const LINK = `/api/v1/agents/${AGENT}/controls/1`;
const LINK_RPC = '/enforcement.v1.AgentService/AddAgentControl';
const EVALUATION = { agent_name: AGENT, stage: 'pre', step: { type: 'llm', name: 'n', input: 'x' } };
const LINKING = toBinary(
  AddAgentControlRequestSchema,
  create(AddAgentControlRequestSchema, { agentName: AGENT, controlId: 1 }),
);

/** Requests that would change something. The first ones need no preflight. */
const ACTS: Readonly<Record<string, HttpExchange>> = {
  'POST without a body': { method: 'POST', path: LINK },
  'POST of a text': post(LINK, 'text/plain', 'x'),
  'POST of a form': post(LINK, 'application/x-www-form-urlencoded', 'a=b'),
  'POST of a form with files': post(LINK, 'multipart/form-data; boundary=b', '--b--\r\n'),
  'POST of what has no media type': post(LINK, 'nothing', 'x'),
  'POST of an evaluation as JSON': post('/api/v1/evaluation', 'application/json', JSON.stringify(EVALUATION)),
  DELETE: { method: 'DELETE', path: LINK },
  PATCH: { ...post('/api/v1/controls/1', 'application/json', '{"enabled": false}'), method: 'PATCH' },
  PUT: { ...post('/api/v1/policies', 'application/json', '{"name": "by-a-page"}'), method: 'PUT' },
  'Connect with JSON': post(LINK_RPC, 'application/json', JSON.stringify({ agentName: AGENT, controlId: 1 })),
  'Connect with protobuf': post(LINK_RPC, 'application/proto', Buffer.from(LINKING)),
  'gRPC-Web': post(LINK_RPC, 'application/grpc-web+proto', framed(LINKING)),
};

function post(path: string, contentType: string, body: string | Buffer): HttpExchange {
  return { method: 'POST', path, headers: { 'content-type': contentType }, body };
}

interface Page {
  readonly name: string;
  readonly headers: Record<string, string>;
}

/** The service is reached as 127.0.0.1 with its port unless a page says otherwise. */
const FOREIGN_PAGES: readonly Page[] = [
  { name: 'of another site', headers: { origin: 'https://elsewhere.example' } },
  { name: 'without an origin', headers: { origin: 'null' } },
  { name: 'with an empty origin', headers: { origin: '' } },
  { name: 'with an origin that is none', headers: { origin: 'localhost' } },
  { name: 'of two origins', headers: { origin: 'http://localhost, https://elsewhere.example' } },
  { name: 'of a host whose name begins with localhost', headers: { origin: 'http://localhost.example' } },
  { name: 'of a host whose name ends with localhost', headers: { origin: 'http://evil-localhost' } },
  { name: 'of an extension', headers: { origin: 'chrome-extension://localhost' } },
  { name: 'of another address', headers: { origin: 'http://10.1.2.3:8000' } },
  { name: 'of another site, by fetch metadata', headers: { 'sec-fetch-site': 'cross-site' } },
  {
    name: 'of another host of this site, by fetch metadata',
    headers: { 'sec-fetch-site': 'same-site' },
  },
  {
    name: 'under a name that was given the address of the service',
    headers: {
      host: 'rebound.example:8000',
      origin: 'http://rebound.example:8000',
      'sec-fetch-site': 'same-origin',
    },
  },
];

const LOCAL_PAGES: readonly Page[] = [
  { name: 'on localhost', headers: { origin: 'http://localhost:3000' } },
  { name: 'on localhost over https', headers: { origin: 'https://localhost' } },
  { name: 'on 127.0.0.1', headers: { origin: 'http://127.0.0.1:1' } },
  { name: 'on [::1]', headers: { origin: 'http://[::1]:5173' } },
  {
    name: 'on localhost of another site',
    headers: { origin: 'http://localhost', 'sec-fetch-site': 'cross-site' },
  },
  {
    name: 'of the service under an address',
    headers: { host: '10.1.2.3:8000', origin: 'http://10.1.2.3:8000' },
  },
  {
    name: 'of the service under an IPv6 address',
    headers: { host: '[fd00::1]:8000', origin: 'http://[fd00::1]:8000' },
  },
];

describe('without keys', () => {
  let service: TestService;
  let call: ReturnType<typeof restClient>;
  async function start(environment: Record<string, string> = {}): Promise<void> {
    service = await startService(environment);
    call = restClient(service.url);
    const seed = seeder(call);
    await seed.agent(AGENT);
    await seed.control('to-be-linked');
  }
  /** What a page may want to change. */
  async function state() {
    const controls = (await call('GET', '/api/v1/controls')).body.controls;
    const linked = (await call('GET', `/api/v1/agents/${AGENT}/controls`)).body.controls;
    const policies = await call('GET', '/api/v1/policies/1/controls');
    return { enabled: controls[0].enabled, linked: linked.length, policy: policies.status };
  }
  const UNTOUCHED = { enabled: true, linked: 0, policy: 404 };
  const act = (request: HttpExchange, headers: Record<string, string>) =>
    exchange(service.url, { ...request, headers: { ...request.headers, ...headers } });

  describe('a page', () => {
    beforeAll(() => start());
    afterAll(() => service.stop());

    it.each(FOREIGN_PAGES)('$name changes nothing, whatever it sends', async ({ headers }) => {
      for (const [name, request] of Object.entries(ACTS)) {
        const reply = await act(request, headers);
        expect({ name, refusal: refusalIn(reply) }).toEqual({ name, refusal: refusalOf(request) });
        expect({ name, cors: corsHeaders(reply) }).toEqual({ name, cors: [] });
        expect(reply.headers.vary?.toLowerCase()).toContain('origin');
      }
      expect(await state()).toEqual(UNTOUCHED);
    });

    it.each(LOCAL_PAGES)('$name may change what it likes', async ({ headers }) => {
      for (const [name, request] of Object.entries(ACTS)) {
        const reply = await act(request, headers);
        expect({ name, refusal: refusalIn(reply) }).toEqual({ name, refusal: undefined });
        expect(reply.headers['access-control-allow-origin']).toBe('*');
        expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
      }
    });

    it.each([
      ['PUT', '/api/v1/controls'],
      ['POST', LINK],
      ['DELETE', LINK],
      ['POST', LINK_RPC],
    ])('is allowed or refused by a preflight before it sends %s %s', async (asked, path) => {
      const preflight = {
        'access-control-request-method': asked,
        'access-control-request-headers': 'content-type',
      };
      const ask = (origin: string) => act({ method: 'OPTIONS', path }, { origin, ...preflight });
      const refused = await ask('https://elsewhere.example');
      expect([refused.status, corsHeaders(refused)]).toEqual([400, []]);
      const taken = await ask('http://localhost:3000');
      expect(taken).toMatchObject({
        status: 200,
        headers: { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'content-type' },
      });
      expect(taken.headers['access-control-allow-methods']).toContain(asked);
    });

    it('of another site may read, and is not granted more', async () => {
      const origin = 'https://elsewhere.example';
      const reply = await act({ path: '/api/v1/agents' }, { origin });
      expect(reply).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': '*' } });
      const preflight = await act(
        { method: 'OPTIONS', path: '/api/v1/agents' },
        { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'x-other' },
      );
      expect(preflight).toMatchObject({
        status: 200,
        headers: { 'access-control-allow-origin': '*', 'access-control-allow-methods': 'GET, HEAD' },
      });
    });

    it('of another site receives nothing over plain gRPC either', async () => {
      const session = http2.connect(service.url);
      const stream = session.request({
        ':method': 'POST',
        ':path': '/enforcement.v1.EvaluationService/Evaluate',
        'content-type': 'application/grpc',
        te: 'trailers',
        origin: 'https://elsewhere.example',
      });
      stream.end(framed(Buffer.alloc(0)));
      stream.resume();
      const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
      expect(headers['grpc-status']).toBe('7');
      session.destroy();
    });
  });

  describe('with listed origins, a page', () => {
    beforeAll(() => start({ CORS_ORIGINS: LISTED, SERVICE_HOST: 'localhost' }));
    afterAll(() => service.stop());

    it.each([
      { name: 'that is listed', headers: { origin: LISTED }, allowOrigin: LISTED },
      {
        name: 'of the service under the name of a listed one',
        headers: { host: 'console.example:8000', origin: 'http://console.example:8000' },
        allowOrigin: undefined,
      },
    ])('$name may change what it likes', async ({ headers, allowOrigin }) => {
      for (const [name, request] of Object.entries(ACTS)) {
        const reply = await act(request, headers);
        expect({ name, refusal: refusalIn(reply) }).toEqual({ name, refusal: undefined });
        expect(reply.headers['access-control-allow-origin']).toBe(allowOrigin);
      }
    });

    it('of another site changes nothing', async () => {
      for (const [name, request] of Object.entries(ACTS)) {
        const reply = await act(request, { origin: 'https://elsewhere.example' });
        expect({ name, refusal: refusalIn(reply) }).toEqual({ name, refusal: refusalOf(request) });
        expect(reply.headers['access-control-allow-origin']).toBeUndefined();
      }
    });
  });

  describe('callers that are no pages', () => {
    beforeAll(() => start());
    afterAll(() => service.stop());

    it.each(['service', 'enforcement.default.svc.cluster.local:8000', 'rebound.example'])(
      'may reach the service as %s',
      async (host) => {
        for (const [name, request] of Object.entries(ACTS)) {
          const reply = await act(request, { host });
          expect({ name, refusal: refusalIn(reply) }).toEqual({ name, refusal: undefined });
        }
      },
    );
  });
});

describe('with keys', () => {
  it('any page that has one may act, as before', async () => {
    const service = await testService({ SERVICE_API_KEY_ENABLED: 'true', SERVICE_ADMIN_API_KEYS: 'admin' });
    const key = { 'x-api-key': 'admin' };
    const seed = seeder(restClient(service.url, key));
    await seed.agent(AGENT);
    await seed.control('to-be-linked');
    for (const [name, request] of Object.entries(ACTS)) {
      for (const { headers } of [...FOREIGN_PAGES, ...LOCAL_PAGES]) {
        const reply = await exchange(service.url, {
          ...request,
          headers: { ...request.headers, ...key, ...headers },
        });
        expect({ name, refusal: refusalIn(reply) }).toEqual({ name, refusal: undefined });
        expect(reply.headers['access-control-allow-origin']).toBe('*');
      }
    }
  });
});

describe('the check of pages', () => {
  const names = fc.constantFrom(
    'localhost',
    '127.0.0.1',
    '[::1]',
    'own.example',
    'evil.example',
    '10.1.2.3',
    'LOCALHOST',
  );
  const ports = fc.constantFrom('', ':80', ':443', ':8000', ':99999');
  const text = fc.oneof(
    fc.string(),
    fc
      .tuple(
        fc.constantFrom('http://', 'https://', 'ftp://', 'null', ''),
        fc.string(),
        names,
        fc.string(),
        ports,
      )
      .map((parts) => parts.join('')),
    fc.tuple(fc.constantFrom('http://', 'https://'), names, ports).map((parts) => parts.join('')),
  );
  const hosts = fc.tuple(names, ports).map((parts) => parts.join(''));
  const check = keylessPageCheck({ cors: { origins: '*', methods: '*', headers: '*' }, host: 'own.example' });

  it('lets no page act but those of this machine and of names that are certainly the service', () => {
    const allowed = new Set<string>();
    fc.assert(
      fc.property(text, hosts, (origin, host) => {
        const request = { headers: { origin, host }, host, protocol: 'http' } as unknown as FastifyRequest;
        if (check(request)) return;
        const { hostname, protocol } = new URL(origin);
        expect(['http:', 'https:']).toContain(protocol);
        expect(['localhost', '127.0.0.1', '[::1]', 'own.example', '10.1.2.3']).toContain(hostname);
        if (hostname === 'own.example' || hostname === '10.1.2.3') {
          expect(new URL(`${protocol}//${host}`).host).toBe(new URL(origin).host);
        }
        allowed.add(hostname);
      }),
      { numRuns: 5_000 },
    );
    expect([...allowed].sort()).toEqual(['10.1.2.3', '127.0.0.1', '[::1]', 'localhost', 'own.example']);
  });
});

type Refusal = 'REST' | 'Connect' | 'gRPC-Web';

/** The words in which an act is refused. */
function refusalOf({ path, headers }: HttpExchange): Refusal {
  if (path.startsWith('/api/')) return 'REST';
  return String(headers?.['content-type']).startsWith('application/grpc-web') ? 'gRPC-Web' : 'Connect';
}

/** In which words a reply refuses a page; undefined when it does not. */
function refusalIn({ status, headers, text, json }: HttpAnswer): Refusal | undefined {
  if (status === 403 && json?.error_code === 'AUTH_INSUFFICIENT_PRIVILEGES') return 'REST';
  if (status === 403 && json?.code === 'permission_denied') return 'Connect';
  if (headers['grpc-status'] === '7' || /grpc-status: ?7/.test(text)) return 'gRPC-Web';
  return undefined;
}

function corsHeaders({ headers }: HttpAnswer): string[] {
  return Object.keys(headers).filter((name) => name.startsWith('access-control-'));
}
