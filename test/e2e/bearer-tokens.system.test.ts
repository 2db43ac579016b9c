import { createHmac, createPublicKey, randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createWritableIterable } from '@connectrpc/connect/protocol';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateRequestSchema,
  type EvaluateStreamRequest,
  EvaluateStreamRequestSchema,
  EvaluationService,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { ObservabilityService } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { sendJson } from '../support/browser.js';
import { AUDIENCE, startIssuer, type TestIssuer } from '../support/issuer.js';
import { lanes } from '../support/lanes.js';
import { BIDI_PROTOCOLS, RPC_PROTOCOLS, type RpcProtocol, rpcTransport } from '../support/rpc-transports.js';
import { startService, type TestService } from '../support/service.js';
import { testService } from '../support/service-suite.js';

const OWN = 'support-bot-1';
const OTHER = 'billing-bot-1';
const STEP = { type: 'llm', name: 'answer', input: 'word' };
const API_KEY = 'an-api-key';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const evaluation = (agentName: string) =>
  create(EvaluateRequestSchema, {
    agentName,
    stage: Stage.PRE,
    stepForm: { case: 'stepJson', value: Buffer.from(JSON.stringify(STEP)) },
  });

let issuer: TestIssuer;
let service: TestService;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer.stop());

async function start(environment: Record<string, string> = {}): Promise<void> {
  service = await startService({ ...issuer.environment, SERVICE_API_KEYS: API_KEY, ...environment });
  for (const agent of [OWN, OTHER]) {
    const reply = await rest(
      'POST',
      '/agents/initAgent',
      { agent: { agent_name: agent } },
      { 'x-api-key': API_KEY },
    );
    expect(reply.status).toBe(200);
  }
}

const rest = (method: string, route: string, body: unknown, headers: object) =>
  sendJson(service.url, method, `/api/v1${route}`, body, { ...headers });
const evaluateOverRest = (token: string, agent = OWN) =>
  rest('POST', '/evaluation', { agent_name: agent, stage: 'pre', step: STEP }, bearer(token));
async function outcome(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'ok';
  } catch (error) {
    return Code[ConnectError.from(error).code];
  }
}
async function endOf(messages: AsyncIterator<unknown>): Promise<string> {
  return outcome(
    (async () => {
      while ((await messages.next()).done !== true);
    })(),
  );
}
const evaluateOver = (protocol: RpcProtocol, token: string, agent = OWN) =>
  outcome(
    createClient(EvaluationService, rpcTransport(protocol, service.url)).evaluate(evaluation(agent), {
      headers: bearer(token),
    }),
  );

const problemOf = ({ body }: { readonly body: Buffer }) =>
  JSON.parse(String(body)) as Record<string, unknown>;
const now = () => Math.floor(Date.now() / 1000);
/** Claims of a token that is accepted. */
const claims = (more: object = {}) => ({
  iss: issuer.url,
  aud: AUDIENCE,
  sub: 'someone',
  exp: now() + 600,
  roles: ['control-reader'],
  ...more,
});
const parts = (token: string) => token.split('.') as [string, string, string];
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe.each(['true', 'false'])('with the lanes %s, a bearer token', (lane) => {
  beforeAll(() => start(lanes(lane)));
  afterAll(() => service.stop());

  it('is taken over every protocol, the first time and again, beside API keys', async () => {
    for (const protocol of RPC_PROTOCOLS) {
      const token = await issuer.token('reader');
      expect([await evaluateOver(protocol, token), await evaluateOver(protocol, token)]).toEqual([
        'ok',
        'ok',
      ]);
    }
    const token = await issuer.token('reader');
    for (const _time of [1, 2]) expect((await evaluateOverRest(token)).status).toBe(200);
    expect((await evaluateOverRest(API_KEY)).status).toBe(200);
    expect((await rest('GET', '/agents', undefined, bearer(token))).status).toBe(200);
  });

  it('has the rights of its roles', async () => {
    const [root, reader, stranger] = await Promise.all(
      (['root', 'reader', 'stranger'] as const).map((client) => issuer.token(client)),
    );
    const change = (token = '') => rest('DELETE', '/agents/no-such-agent', undefined, bearer(token));
    expect((await change(root)).status).toBe(404);
    const refused = await change(reader);
    expect(refused.status).toBe(403);
    expect(problemOf(refused)).toMatchObject({ error_code: 'AUTH_INSUFFICIENT_PRIVILEGES' });
    const unknown = await evaluateOverRest(stranger ?? '');
    expect(unknown.status).toBe(403);
    expect(problemOf(unknown).detail).toContain('claim roles');
    for (const protocol of RPC_PROTOCOLS)
      expect(await evaluateOver(protocol, stranger ?? '')).toBe('PermissionDenied');
  });
});

describe('a bearer token', () => {
  beforeAll(() => start({ SERVICE_OIDC_AGENTS_CLAIM: 'agents', SERVICE_ADMIN_API_KEYS: 'an-admin-key' }));
  afterAll(() => service.stop());

  it('is limited to the agents of its claim, and refused without it', async () => {
    const token = await issuer.token('support');
    for (const _time of [1, 2]) {
      expect((await evaluateOverRest(token, OWN)).status).toBe(200);
      expect((await evaluateOverRest(token, OTHER)).status).toBe(403);
    }
    for (const protocol of RPC_PROTOCOLS) {
      expect(await evaluateOver(protocol, token, OWN)).toBe('ok');
      expect(await evaluateOver(protocol, token, OTHER)).toBe('PermissionDenied');
    }
    expect((await rest('GET', '/agents', undefined, bearer(token))).status).toBe(403);
    const all = await issuer.token('reader');
    expect((await rest('GET', '/agents', undefined, bearer(all))).status).toBe(200);
    for (const agents of [undefined, [], ['a b'], [1], 'two**stars']) {
      const reply = await evaluateOverRest(await issuer.sign(claims({ agents })));
      expect(reply.status).toBe(403);
      expect(problemOf(reply).detail).toContain('claim agents');
    }
  });

  it('is named by its subject in the audit log', async () => {
    const token = await issuer.token('root');
    const made = await rest('PUT', '/policies', { name: 'policy-of-a-token' }, bearer(token));
    expect(made.status).toBe(200);
    const log = await rest('GET', '/audit', undefined, { 'x-api-key': 'an-admin-key' });
    expect(problemOf(log).entries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          actor: { kind: 'admin', name: 'root', key_fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/) },
        }),
      ]),
    );
  });

  it('ends its streams when it expires', async () => {
    const token = await issuer.sign(claims({ exp: now() - 27, agents: '*' }));
    const ends: Promise<string>[] = [];
    for (const protocol of BIDI_PROTOCOLS) {
      const requests = createWritableIterable<EvaluateStreamRequest>();
      void requests.write(create(EvaluateStreamRequestSchema, { id: '1', evaluations: [evaluation(OWN)] }));
      const client = createClient(EvaluationService, rpcTransport(protocol, service.url));
      const replies = client.evaluateStream(requests, { headers: bearer(token) })[Symbol.asyncIterator]();
      expect((await replies.next()).value).toMatchObject({ id: '1' });
      ends.push(endOf(replies));
    }
    for (const protocol of RPC_PROTOCOLS) {
      const transport = rpcTransport(protocol, service.url);
      const headers = bearer(token);
      const controls = createClient(AgentService, transport).watchControls({ agentName: OWN }, { headers });
      ends.push(endOf(controls[Symbol.asyncIterator]()));
      const events = createClient(ObservabilityService, transport).watchEvents({}, { headers });
      ends.push(endOf(events[Symbol.asyncIterator]()));
    }
    expect(new Set(await Promise.all(ends))).toEqual(new Set(['Unauthenticated']));
    const after = await evaluateOverRest(token);
    expect(after.status).toBe(401);
    expect(problemOf(after).detail).toContain('expired');
  });

  it('may be signed with any of the algorithms, and not with a key that the issuer has withdrawn', async () => {
    const tokens = [await issuer.token('reader')];
    expect((await evaluateOverRest(tokens[0] ?? '')).status).toBe(200);
    for (const alg of ['PS256', 'ES256', 'EdDSA']) {
      await issuer.rotate({ alg });
      const token = await issuer.token('reader');
      expect((await evaluateOverRest(token)).status).toBe(200);
      tokens.push(token);
    }
    const statuses = await Promise.all(tokens.map(async (token) => (await evaluateOverRest(token)).status));
    expect(statuses).toEqual([401, 401, 401, 200]);
  });
});

describe('a token', () => {
  beforeAll(() => start());
  afterAll(() => service.stop());

  const wrong: Record<string, [make: () => Promise<string>, reason: string]> = {
    'of another audience': [() => issuer.sign(claims({ aud: 'other' })), 'audience'],
    'of another issuer': [() => issuer.sign(claims({ iss: 'https://other.example' })), 'issuer'],
    'that has expired': [() => issuer.sign(claims({ exp: now() - 60 })), 'expired'],
    'that is not valid yet': [() => issuer.sign(claims({ nbf: now() + 300 })), 'not valid yet'],
    'without expiry': [() => issuer.sign(claims({ exp: undefined })), 'no claim exp'],
    'without a subject': [() => issuer.sign(claims({ sub: undefined })), 'no claim sub'],
    'for a logout': [() => issuer.sign(claims(), { typ: 'logout+jwt' }), 'typ'],
    'bound to a key': [() => issuer.sign(claims({ cnf: { jkt: 'x' } })), 'cnf'],
    'with an unknown key': [() => issuer.sign(claims(), { kid: 'unknown' }), 'no such key'],
    'with other claims than were signed': [
      async () => {
        const [header, , signature] = parts(await issuer.sign(claims()));
        return [header, base64url(claims({ roles: ['control-admin'] })), signature].join('.');
      },
      'signature',
    ],
    'with another signature': [
      async () => {
        const [header, payload] = parts(await issuer.sign(claims()));
        const [, , signature] = parts(await issuer.sign(claims({ sub: 'other' })));
        return [header, payload, signature].join('.');
      },
      'signature',
    ],
    'without a signature': [async () => `${base64url({ alg: 'none' })}.${base64url(claims())}.`, 'alg'],
    'signed with the public key as a secret': [
      async () => {
        const reply = await fetch(`${issuer.url}/jwks`);
        const { keys } = (await reply.json()) as { keys: { kid: string }[] };
        const secret = createPublicKey({ key: keys[0] as never, format: 'jwk' }).export({
          type: 'spki',
          format: 'pem',
        });
        const input = `${base64url({ alg: 'HS256', kid: keys[0]?.kid })}.${base64url(claims())}`;
        return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
      },
      'alg',
    ],
  };

  it.each(Object.keys(wrong))('%s is refused over every protocol, with the reason', async (name) => {
    const [make, reason] = wrong[name] ?? [];
    const token = (await make?.()) ?? '';
    const reply = await evaluateOverRest(token);
    expect(reply.status).toBe(401);
    const problem = problemOf(reply);
    expect(problem).toMatchObject({ error_code: 'AUTH_INVALID_KEY', status: 401 });
    expect(problem.detail).toContain(reason);
    expect(String(reply.body)).not.toContain(token);
    for (const protocol of RPC_PROTOCOLS) expect(await evaluateOver(protocol, token)).toBe('Unauthenticated');
  });

  it('within the tolerance of the clocks is taken', async () => {
    const token = await issuer.sign(claims({ exp: now() - 5, nbf: now() + 5 }));
    expect((await evaluateOverRest(token)).status).toBe(200);
  });
});

// A service of its own: wrong tokens make their address wait.
describe('the issuer', () => {
  beforeAll(() => start());
  afterAll(() => service.stop());
  const known = () => issuer.sign(claims());

  it('is not asked for each token with a key that is made up, and knows others after that', async () => {
    const before = await issuer.counts();
    for (let index = 0; index < 40; index += 1) {
      const token = await issuer.sign(claims({ jti: index }), { kid: `made-up-${index}` });
      expect((await evaluateOverRest(token)).status).toBe(401);
    }
    expect((await issuer.counts()).keys - before.keys).toBeLessThanOrEqual(5);
    expect((await evaluateOverRest(await known())).status).toBe(200);
  });

  it('may be away: its last keys are used, and tokens with other keys can be tried again', async () => {
    const unknown = await issuer.sign(claims(), { kid: 'not-yet-known' });
    await issuer.setAway(true);
    onTestFinished(() => issuer.setAway(false));
    const own = await testService({ ...issuer.environment });
    const token = await known();
    expect((await evaluateOverRest(token)).status).toBe(200);
    expect([401, 503]).toContain((await evaluateOverRest(unknown)).status);
    const reply = await sendJson(own.url, 'GET', '/api/v1/agents', undefined, bearer(token));
    expect(reply.status).toBe(503);
    expect(problemOf(reply)).toMatchObject({ error_code: 'SERVICE_UNAVAILABLE' });
    expect(reply.headers['retry-after']).toBe('5');
    const client = createClient(EvaluationService, rpcTransport('gRPC', own.url));
    const call = client.evaluate(evaluation(OWN), { headers: bearer(token) });
    expect(await outcome(call)).toBe('Unavailable');
  });

  it('has tokens that cannot be guessed: an address with too many wrong ones has to wait', async () => {
    const right = await known();
    expect((await evaluateOverRest(right)).status).toBe(200);
    const statuses = new Set<number>();
    for (let index = 0; index < 60; index += 1) {
      const [header, payload] = parts(await known());
      const wrong = [header, payload, Buffer.from(`wrong ${index}`).toString('base64url')].join('.');
      statuses.add((await evaluateOverRest(wrong)).status);
    }
    expect(statuses).toEqual(new Set([401, 429]));
    expect((await evaluateOverRest(right)).status).toBe(200);
  });

  it('serves new tokens of known subjects while an address sends wrong ones, of the same subject too', async () => {
    const own = await startService({ ...issuer.environment });
    const status = async (token: string) =>
      (await sendJson(own.url, 'GET', '/api/v1/agents', undefined, bearer(token))).status;
    const signed = (more: object) => issuer.sign({ ...claims(), ...more, jti: randomUUID() });
    const forged = async (more: object) => {
      const [header, payload] = parts(await signed(more));
      return [header, payload, Buffer.from(`wrong ${randomUUID()}`).toString('base64url')].join('.');
    };
    onTestFinished(() => own.stop());
    expect(await status(await signed({ sub: 'known' }))).toBe(200);
    const others = new Set<number>();
    for (let index = 0; index < 60; index += 1) others.add(await status(await forged({ sub: 'stranger' })));
    expect(others).toEqual(new Set([401, 429]));
    expect(await status(await signed({ sub: 'known' }))).toBe(200);
    expect(await status(await signed({ sub: 'new' }))).toBe(429);
    for (let index = 0; index < 49; index += 1)
      expect(await status(await forged({ sub: 'known' }))).toBe(401);
    expect(await status(await signed({ sub: 'known' }))).toBe(200);
    expect(await status(await forged({ sub: 'known' }))).toBe(401);
    expect(await status(await signed({ sub: 'known' }))).toBe(429);
  });

  it('counts no guess for tokens that name no key of the issuer, or no issuer at all', async () => {
    const own = await startService({ ...issuer.environment });
    const status = async (token: string) =>
      (await sendJson(own.url, 'GET', '/api/v1/agents', undefined, bearer(token))).status;
    onTestFinished(() => own.stop());
    for (let index = 0; index < 400; index += 1) {
      const options = index % 2 === 0 ? { kid: `unknown-${index}` } : {};
      const iss = index % 2 === 0 ? {} : { iss: `https://other.example/${index}` };
      expect(await status(await issuer.sign({ ...claims(), ...iss }, options))).toBe(401);
    }
    expect(await status(await issuer.sign({ ...claims(), sub: 'newcomer' }))).toBe(200);
  });
});
