import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { afterEach, describe, expect, it } from 'vitest';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { exchange, restClient } from '../../support/http.js';
import { lanes } from '../../support/lanes.js';
import { RPC_PROTOCOLS, rpcTransport } from '../../support/rpc-transports.js';
import { seeder } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';

const AGENT = 'shared-agent-1';
const KEY = { 'x-api-key': 'regular' };
const ADMIN = { 'x-api-key': 'admin' };
const evaluation = { agent_name: AGENT, stage: 'pre', step: { type: 'llm', name: 'a', input: 'x' } };
const message = {
  agentName: AGENT,
  stage: 1,
  stepForm: { case: 'stepJson' as const, value: Buffer.from(JSON.stringify(evaluation.step)) },
};

let service: TestService;
afterEach(() => service.stop());

async function start(environment: Record<string, string>): Promise<void> {
  service = await startService({
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_API_KEYS: 'regular',
    SERVICE_ADMIN_API_KEYS: 'admin,other-admin',
    ...environment,
  });
  await seeder(restClient(service.url, { 'x-api-key': 'other-admin' })).agent(AGENT);
}

const evaluateOver = (protocol: (typeof RPC_PROTOCOLS)[number], headers: Record<string, string>) =>
  createClient(EvaluationService, rpcTransport(protocol, service.url)).evaluate(message, { headers });
const codeOf = async (call: Promise<unknown>) =>
  call.then(
    () => 'ok',
    (error: unknown) => ConnectError.from(error).code,
  );

describe.each(['true', 'false'])('with the lanes %s, a key with a rate', (lane) => {
  it('is refused beyond it over every protocol, each evaluation of a batch counted, while others are served', async () => {
    await start({ SERVICE_MAX_CALLS_PER_SECOND_PER_KEY: '20', ...lanes(lane) });
    const call = restClient(service.url, KEY);
    const batch = await call('POST', '/api/v1/evaluation/batch', {
      evaluations: Array(1_000).fill(evaluation),
    });
    expect(batch.status).toBe(200);
    const rest = await call('POST', '/api/v1/evaluation', evaluation);
    expect([rest.status, rest.body.error_code]).toEqual([429, 'RATE_LIMITED']);
    // A thousand evaluations are regained in 49 seconds, after the burst of one.
    expect(Number(rest.headers.get('retry-after'))).toBeGreaterThanOrEqual(30);
    for (const protocol of RPC_PROTOCOLS)
      expect([protocol, await codeOf(evaluateOver(protocol, KEY))]).toEqual([
        protocol,
        Code.ResourceExhausted,
      ]);
    expect((await call('GET', '/api/v1/agents')).status).toBe(429);
    expect((await restClient(service.url, ADMIN)('POST', '/api/v1/evaluation', evaluation)).status).toBe(200);
  });

  it('has the evaluations of a stream refused one by one, and the stream continues', async () => {
    await start({ SERVICE_MAX_CALLS_PER_SECOND_PER_KEY: '10', ...lanes(lane) });
    const client = createClient(EvaluationService, rpcTransport('gRPC', service.url));
    async function* requests() {
      for (const [id, count] of [
        ['a', 5],
        ['b', 500],
        ['c', 1],
      ] as const)
        yield { id, evaluations: Array(count).fill(message) };
    }
    const seen: string[] = [];
    for await (const { id, results } of client.evaluateStream(requests(), { headers: KEY })) {
      const outcomes = new Set(
        results.map(({ outcome }) => (outcome.case === 'error' ? outcome.value.code : 'ok')),
      );
      seen.push(`${id}: ${results.length} ${[...outcomes].join()}`);
    }
    // A refusal needs no controls, so it may come before answers that wait for those of the agent.
    expect(seen.sort()).toEqual(['a: 5 ok', 'b: 500 ok', 'c: 1 8']);
  });
});

describe('guesses of keys', () => {
  const tries = async (count: number, attempt: (key: string) => Promise<number>): Promise<number[]> => {
    const statuses: number[] = [];
    for (let index = 0; index < count; index += 1) statuses.push(await attempt(`guess-${index}`));
    return statuses;
  };
  const config = (headers: Record<string, string>) => exchange(service.url, { path: '/api/config', headers });

  it.each([
    [
      'a JSON route',
      async (key: string) =>
        (await restClient(service.url, { 'x-api-key': key })('GET', '/api/v1/agents')).status,
    ],
    [
      'the evaluation',
      async (key: string) =>
        (await restClient(service.url, { 'x-api-key': key })('POST', '/api/v1/evaluation', evaluation))
          .status,
    ],
    ['the configuration', async (key: string) => (await config({ 'x-api-key': key })).status],
  ])('are throttled at %s, and keys that were used before are still served', async (_, attempt) => {
    await start({});
    expect((await restClient(service.url, KEY)('GET', '/api/v1/agents')).status).toBe(200);
    const statuses = await tries(60, attempt);
    expect(new Set(statuses.slice(0, 50)).has(429)).toBe(false);
    expect(new Set(statuses.slice(50))).toEqual(new Set([429]));
    // A right guess looks like a wrong one.
    expect(await attempt('admin')).toBe(429);
    expect((await restClient(service.url, KEY)('GET', '/api/v1/agents')).status).toBe(200);
    expect((await config({ 'x-api-key': 'regular' })).json).toMatchObject({ has_active_session: true });
  });

  it('are throttled over gRPC', async () => {
    await start({});
    const client = createClient(EvaluationService, rpcTransport('gRPC', service.url));
    const attempt = (key: string) => codeOf(client.evaluate(message, { headers: { 'x-api-key': key } }));
    for (let index = 0; index < 50; index += 1)
      expect(await attempt(`guess-${index}`)).toBe(Code.Unauthenticated);
    expect(await attempt('another')).toBe(Code.ResourceExhausted);
    expect(await attempt('admin')).toBe(Code.ResourceExhausted);
  });

  it('of one client behind a trusted proxy lock no other client out', async () => {
    await start({ SERVICE_TRUST_PROXY: 'loopback' });
    const logIn = async (address: string, key: string) =>
      (
        await exchange(service.url, {
          method: 'POST',
          path: '/api/login',
          headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
          body: JSON.stringify({ api_key: key }),
        })
      ).status;
    await tries(10, (key) => logIn('198.51.100.7', key));
    expect(await logIn('198.51.100.7', 'admin')).toBe(429);
    expect(await logIn('198.51.100.8', 'admin')).toBe(200);
    // What a client itself says of its address counts for nothing.
    expect(await logIn('203.0.113.1, 198.51.100.7', 'admin')).toBe(429);
  });

  it('are counted by the address of the connection unless its proxy is trusted', async () => {
    await start({});
    const call = (address: string, key: string) =>
      restClient(service.url, { 'x-api-key': key, 'x-forwarded-for': address })('GET', '/api/v1/agents');
    const statuses = await tries(51, async (key) => (await call(`198.51.100.${key.slice(6)}`, key)).status);
    expect(statuses.at(-1)).toBe(429);
  });
});
