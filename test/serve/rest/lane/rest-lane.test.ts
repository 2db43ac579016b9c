import http from 'node:http';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { EvaluationService as EvaluationServiceDesc } from '../../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { EvaluationService } from '../../../../src/decide/decisions/evaluation-service.js';
import { createAuthenticator } from '../../../../src/serve/auth/authenticator.js';
import { createKeyReader } from '../../../../src/serve/auth/key-reader.js';
import type { CallMeter } from '../../../../src/serve/call/call-host.js';
import { restTemplate, rpcMethods } from '../../../../src/serve/descriptors/rpc-methods.js';
import { evaluationRoutes } from '../../../../src/serve/rest/evaluation-route.js';
import { createRestLane } from '../../../../src/serve/rest/rest-lane.js';
import type { RestRoute } from '../../../../src/serve/rest/rest-route.js';
import { endedHere } from '../../../support/ended-sessions.js';
import { NO_FAILURES } from '../../../support/failures.js';
import { exchange } from '../../../support/http.js';
import { NO_WITHDRAWALS } from '../../../support/long-streams.js';
import { NO_HEAVY_STEPS } from '../../../support/no-heavy-steps.js';
import { openAdmission } from '../../../support/open-admission.js';
import { until } from '../../../support/until.js';
import { SAFE } from '../../lane/lane-harness.js';

const ERRORS = { failures: NO_FAILURES, now: () => new Date(0), duplicates: 'refuse' as const };

const KEY = 'some-key';
const PATH = '/api/v1/evaluation';
const KEYLESS = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` };
const HEADERS = { 'content-type': 'application/json', 'x-api-key': KEY };
const BODY = JSON.stringify({
  agent_name: 'some-agent-01',
  stage: 'pre',
  step: { type: 'llm', name: 'answer', input: 'x' },
});
const VERDICT = { ...SAFE, revision: 7 };

interface Harness {
  readonly url: string;
  /** What the metrics were told. */
  readonly counted: string[];
  readonly logLines: string[];
  /** Calls that count for a key. */
  running(): number;
  stop(): void;
}

let harness: Harness;
afterEach(() => harness.stop());

/** A server that has the lane and, for what it leaves, an answer that only this server gives. */
async function start(
  evaluate: EvaluationService['evaluate'],
  { requestTimeoutMs = 30_000, isOverloaded = false } = {},
): Promise<Harness> {
  const counted: string[] = [];
  const logLines: string[] = [];
  const { admission, entrance } = openAdmission({
    limits: { callsPerKey: 2 },
    load: { refuses: () => isOverloaded },
    authenticator: createAuthenticator({
      enabled: true,
      keys: [KEY],
      adminKeys: [],
      endedSessions: endedHere(),
    }),
  });
  const metrics: CallMeter = {
    restStarted: (method, path) => counted.push(`${method} ${path}`),
    restEnded: (method, path, status, seconds) => {
      expect(seconds).toBeGreaterThanOrEqual(0);
      counted.push(`${method} ${path} ${status}`);
    },
    rpcStarted: () => {},
    rpcEnded: () => {},
  };
  const log = pino({ level: 'debug' }, { write: (line: string) => logLines.push(line) });
  const takes = createRestLane({
    routes: routes(evaluate),
    host: {
      admission,
      entrance,
      policies: [],
      withdrawals: NO_WITHDRAWALS,
      metrics,
      log,
      logsCalls: true,
      failures: NO_FAILURES,
      requestTimeoutMs,
      running: new Set(),
      keyReader: createKeyReader(),
    },
    log,
    version: '1.2.3',
    corsHeaders: () => ({}),
    hasKeys: true,
    maxBodyBytes: 1_000,
    ...ERRORS,
  });
  const server = http.createServer((request, response) => {
    if (!takes(request, response)) response.writeHead(299).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counted,
    logLines,
    running: () => admission.keyedCalls,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function routes(evaluate: EvaluationService['evaluate']): RestRoute[] {
  const judging = rpcMethods(EvaluationServiceDesc).filter(({ desc }) => desc.name !== 'Explain');
  return evaluationRoutes({ evaluate }, NO_HEAVY_STEPS, judging, '/api/v1', ERRORS);
}

const ask = (more: Partial<Parameters<typeof exchange>[1]> = {}) =>
  exchange(harness.url, { method: 'POST', path: PATH, headers: HEADERS, body: BODY, ...more });

describe('the REST lane', () => {
  it('takes the paths of the proto, and answers there', async () => {
    harness = await start(() => VERDICT);
    const reply = await ask();
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({ 'x-service-revision': '7', 'x-service-server-version': '1.2.3' });
    expect(reply.json).toEqual({
      is_safe: true,
      confidence: 1,
      reason: null,
      matches: [],
      errors: [],
      non_matches: [],
    });
    const batch = await ask({ path: `${PATH}/batch`, body: `{"evaluations":[${BODY}]}` });
    expect(batch.json).toEqual({ results: [{ verdict: reply.json }] });
    await until(
      () => harness.counted.length,
      (count) => count === 4,
    );
    expect(harness.counted).toEqual([
      `POST ${PATH}`,
      `POST ${PATH} 200`,
      `POST ${PATH}/batch`,
      `POST ${PATH}/batch 200`,
    ]);
    expect(harness.logLines.map((line) => JSON.parse(line))).toMatchObject([
      { reqId: reply.headers['x-request-id'], method: 'POST', path: PATH, status: 200, msg: 'request' },
      { path: `${PATH}/batch` },
    ]);
  });

  it.each<[string, Partial<Parameters<typeof exchange>[1]>]>([
    ['another path', { path: '/api/v1/controls' }],
    ['a query', { path: `${PATH}?a` }],
    ['another method', { method: 'PUT' }],
    ['another media type', { headers: { ...HEADERS, 'content-type': 'text/plain' } }],
    ['a compressed body', { headers: { ...HEADERS, 'content-encoding': 'gzip' } }],
    ['a cookie', { headers: { ...HEADERS, cookie: 'a=b' } }],
    ['an origin and no key', { headers: { ...KEYLESS, origin: 'http://page.example' } }],
    ['a word of a browser and no key', { headers: { ...KEYLESS, 'sec-fetch-site': 'cross-site' } }],
    ['no body', { body: '' }],
    ['a body that is too large', { body: BODY + ' '.repeat(1_000) }],
  ])('leaves a request with %s to others', async (_, request) => {
    harness = await start(() => VERDICT);
    expect((await ask(request)).status).toBe(299);
    expect(harness.counted).toEqual([]);
  });

  it.each([{ origin: 'http://page.example' }, { 'sec-fetch-site': 'cross-site' }])(
    'takes a request of a page that sends a key of its own: %o',
    async (headers) => {
      harness = await start(() => VERDICT);
      expect((await ask({ headers: { ...HEADERS, ...headers } })).status).toBe(200);
    },
  );

  it('refuses routes that do not fit', () => {
    const [route] = routes(() => VERDICT) as [RestRoute];
    const binding = { ...route.binding, verb: 'GET', template: '/api/v1/x' } as const;
    const misfit = { ...route, binding, template: restTemplate(binding, '/api/v1') };
    expect(() => createRestLane({ routes: [misfit] } as never)).toThrow('has no place in the lane');
    // Nothing was started.
    harness = { stop() {} } as Harness;
  });

  it('turns calls away while the process is overloaded', async () => {
    harness = await start(() => VERDICT, { isOverloaded: true });
    const reply = await ask();
    expect(reply.status).toBe(503);
    expect(reply.headers['retry-after']).toBe('1');
  });

  it('ends an evaluation that takes too long', async () => {
    harness = await start(() => new Promise(() => {}), { requestTimeoutMs: 20 });
    const reply = await ask();
    expect([reply.status, reply.json.error_code]).toEqual([504, 'DEADLINE_EXCEEDED']);
  });

  it('reveals nothing of a fault of the server, and logs it', async () => {
    harness = await start(() => Promise.reject(new Error('secret')));
    const reply = await ask();
    expect(reply.status).toBe(500);
    expect(reply.text).not.toContain('secret');
    const id = reply.headers['x-request-id'];
    expect(reply.json.metadata.request_id).toBe(id);
    expect(JSON.parse(harness.logLines[0] ?? '')).toMatchObject({
      level: 50,
      reqId: id,
      err: { message: 'secret' },
    });
  });

  it('counts the calls of a key until their replies are out', async () => {
    const waiting: (() => void)[] = [];
    harness = await start(() => new Promise((resolve) => waiting.push(() => resolve(VERDICT))));
    const first = [ask(), ask()];
    await until(
      () => waiting.length,
      (count) => count === 2,
    );
    expect(harness.running()).toBe(2);
    expect((await ask()).status).toBe(429);
    for (const release of waiting) release();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
    await until(
      () => harness.running(),
      (running) => running === 0,
    );
  });

  it.each([
    ['inside its body', BODY.slice(0, 10), 0],
    ['while it waits for a verdict', BODY, 1],
  ])('releases a client that goes away %s', async (_, sent, evaluations) => {
    let asked = 0;
    harness = await start(() => {
      asked += 1;
      return new Promise(() => {});
    });
    const { port } = new URL(harness.url);
    const socket = net.connect(Number(port), '127.0.0.1');
    const head = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nContent-Type: application/json\r\n`;
    socket.write(`${head}Content-Length: ${BODY.length}\r\n\r\n${sent}`);
    await until(
      () => [harness.running(), asked],
      ([running, calls]) => running === 1 && calls === evaluations,
    );
    socket.destroy();
    await until(
      () => harness.running(),
      (running) => running === 0,
    );
    expect(harness.counted).toEqual([`POST ${PATH}`, `POST ${PATH} 499`]);
    expect(harness.logLines.some((line) => JSON.parse(line).level >= 50)).toBe(false);
  });
});
