import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AddressOptions,
  type Client,
  type ClientSettings,
  createClient,
} from '../../packages/client/src/node.js';
import { createClient as createWebClient } from '../../packages/client/src/web.js';
import { restClient } from '../support/http.js';
import { openedInTest } from '../support/opened.js';
import { suiteService, testService } from '../support/service-suite.js';
import { until } from '../support/until.js';
import { AGENT, asking, PATIENT_MS, seedAgent } from './client-harness.js';
import { type ScriptedService, startScriptedService } from './scripted-service.js';

const KEY = 'a-regular-key';
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;

const clients = openedInTest<Client>((one) => one.close());

/** A function that returns keys one after the other, and the last one from then on. */
function keysInTurn(...keys: string[]) {
  const reads: string[] = [];
  const read = async () => {
    const key = keys[Math.min(reads.length, keys.length - 1)] ?? '';
    reads.push(key);
    return key;
  };
  return { read, reads };
}

describe.each(['gRPC', 'gRPC-Web with fetch'] as const)('the key of a client over %s', (protocol) => {
  const service = suiteService({ SERVICE_API_KEY_ENABLED: 'true', SERVICE_API_KEYS: KEY });

  function connect(settings: ClientSettings): Client {
    const options = { baseUrl: service.url, timeoutMs: PATIENT_MS, ...settings };
    const client = protocol === 'gRPC' ? createClient(options) : createWebClient(options);
    clients.push(client);
    return client;
  }
  /** The agent is unknown: that is said only to those with a key. */
  const codeOf = (call: Promise<unknown>) =>
    call.then(
      () => undefined,
      (error: unknown) => ConnectError.from(error).code,
    );
  const evaluateOn = (client: Client) => codeOf(client.evaluate(asking('hello')));

  it('comes from a function, which is not called for every evaluation', async () => {
    const { read, reads } = keysInTurn(KEY);
    const client = connect({ apiKey: read });
    for (let round = 0; round < 20; round += 1) expect(await evaluateOn(client)).toBe(Code.NotFound);
    expect(reads).toEqual([KEY]);
  });

  it('is read again when it is refused, and what was refused is sent again', async () => {
    const { read, reads } = keysInTurn('an-old-key', KEY);
    const client = connect({ apiKey: read });
    const codes = await Promise.all(Array.from({ length: 5 }, () => evaluateOn(client)));
    expect(codes).toEqual(Array(5).fill(Code.NotFound));
    expect(reads).toEqual(['an-old-key', KEY]);
  });

  it('is read again once only', async () => {
    const { read, reads } = keysInTurn('an-old-key', 'another-old-key', 'a-third-one', KEY);
    const client = connect({ apiKey: read, onUnavailable: 'allow' });
    expect(await evaluateOn(client)).toBe(Code.Unauthenticated);
    expect(reads).toEqual(['an-old-key', 'another-old-key']);
  });

  it('is read again for the other services and for watches', async () => {
    for (const call of [
      (client: Client) => client.agents.listAgents({}),
      (client: Client) => client.watchControls('an-unknown-agent').next(),
    ]) {
      const { read, reads } = keysInTurn('an-old-key', KEY);
      const code = await codeOf(call(connect({ apiKey: read })));
      expect([undefined, Code.NotFound]).toContain(code);
      expect(reads).toEqual(['an-old-key', KEY]);
      const wrong = keysInTurn('an-old-key');
      expect(await codeOf(call(connect({ apiKey: wrong.read })))).toBe(Code.Unauthenticated);
      expect(wrong.reads.length).toBe(2);
    }
  });

  it('is asked for again while the function fails, until the time limit', async () => {
    let failures = 2;
    const flaky = () => {
      if (failures-- > 0) throw new Error('the vault is sealed');
      return KEY;
    };
    expect(await evaluateOn(connect({ apiKey: flaky }))).toBe(Code.NotFound);
    const failing = () => Promise.reject(new Error('the vault is sealed'));
    const evaluation = await connect({ apiKey: failing }).evaluate(asking('hello'), { timeoutMs: 300 });
    expect(evaluation).toMatchObject({ evaluated: false, isSafe: false });
    expect(evaluation.reason).toContain('apiKey: the function failed: the vault is sealed');
  });

  it('must be a text that a header can hold', async () => {
    for (const key of ['', 'with blanks', 'ключ', 7 as never]) {
      expect(() => connect({ apiKey: key })).toThrow(/^apiKey must/);
      expect(await evaluateOn(connect({ apiKey: () => key }))).toBe(Code.FailedPrecondition);
    }
  });
});

describe('interceptors', () => {
  it('see every call and every stream, with the key', async () => {
    const service = await testService();
    await seedAgent(service.url);
    const seen: string[] = [];
    const note: Interceptor = (next) => (request) => {
      seen.push(`${request.method.name} ${request.stream} ${request.header.get('x-api-key')}`);
      request.header.set('x-request-id', 'from-an-interceptor');
      return next(request);
    };
    const options = { baseUrl: service.url, apiKey: KEY, timeoutMs: PATIENT_MS, interceptors: [note] };
    const streaming = createClient(options);
    const web = createWebClient(options);
    clients.push(streaming, web);
    for (const client of [streaming, web]) {
      await client.evaluate(asking('hello'));
      await client.agents.getAgent({ agentName: AGENT });
    }
    expect(seen).toEqual([
      `EvaluateStream true ${KEY}`,
      `GetAgent false ${KEY}`,
      `EvaluateBatch false ${KEY}`,
      `GetAgent false ${KEY}`,
    ]);
  });
});

describe('headers of one evaluation', () => {
  let service: ScriptedService;
  beforeAll(async () => {
    service = await startScriptedService();
  });
  afterAll(() => service.close());

  it('travel with a call of its own, beside the stream of the others', async () => {
    const options: AddressOptions = { baseUrl: service.url, timeoutMs: PATIENT_MS, apiKey: KEY };
    const client = createClient(options);
    clients.push(client);
    const others = Array.from({ length: 5 }, () => client.evaluate(asking('good')));
    const own = client.evaluate(asking('bad'), { headers: { 'x-tenant': 'blue' } });
    expect((await own).isSafe).toBe(false);
    expect((await Promise.all(others)).every(({ isSafe }) => isSafe)).toBe(true);
    expect(
      service.headers.map((headers) => [headers.get('x-tenant'), headers.get('x-api-key')]).sort(),
    ).toEqual([
      [null, KEY],
      ['blue', KEY],
    ]);
  });
});

describe('the trace, session and step of an evaluation', () => {
  const service = suiteService({
    SERVICE_OBSERVABILITY_RECORD: 'all',
    OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.1',
  });
  beforeAll(async () => {
    await seedAgent(service.url);
  });

  it('are recorded with its events, in one stream with evaluations of other traces', async () => {
    const client = createClient({ baseUrl: service.url, timeoutMs: PATIENT_MS });
    clients.push(client);
    const other = TRACE_ID.replaceAll('4', '5');
    const [first] = await Promise.all([
      client.evaluate(asking('bad'), { traceparent: TRACEPARENT, sessionId: 'session-1', stepId: 'step-1' }),
      client.evaluate(asking('bad'), { traceparent: TRACEPARENT.replace(TRACE_ID, other) }),
    ]);
    expect(first).toMatchObject({ evaluated: true, decisionId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    for (const trace of [TRACE_ID, other]) {
      const events = await until(
        async () => (await client.observability.queryEvents({ traceId: trace })).events,
        (found) => found.length > 0,
      );
      expect(new Set(events.map(({ traceId }) => traceId))).toEqual(new Set([trace]));
    }
  });

  it('comes from the client when the evaluation has none', async () => {
    let active: string | undefined;
    const client = createClient({ baseUrl: service.url, timeoutMs: PATIENT_MS, traceparent: () => active });
    clients.push(client);
    await client.evaluate(asking('good'));
    const trace = 'c'.repeat(32);
    active = TRACEPARENT.replace(TRACE_ID, trace);
    await client.guard(async () => 'done', { agent: AGENT, step: 'send_mail', stages: ['pre'] })();
    const events = await until(
      async () =>
        (await restClient(service.url)('POST', '/api/v1/observability/events/query', { trace_id: trace }))
          .body.events,
      (found) => Array.isArray(found) && found.length > 0,
    );
    expect(events).toBeDefined();
  });

  it.each(['', 'ff-1-2-3', TRACEPARENT.toUpperCase(), `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`])(
    'is refused when it is %j',
    async (traceparent) => {
      const client = createClient({ baseUrl: service.url, timeoutMs: PATIENT_MS });
      clients.push(client);
      await expect(client.evaluate(asking('good'), { traceparent })).rejects.toThrow(
        /^traceparent must be as in W3C Trace Context/,
      );
    },
  );

  it('has a time limit that the service keeps as well', async () => {
    const scripted = await startScriptedService();
    const client = createClient({ baseUrl: scripted.url, timeoutMs: PATIENT_MS });
    clients.push(client);
    await client.evaluate(asking('good'), { timeoutMs: 1_500, accepts: ['steer', 'ask'] });
    await client.evaluate(asking('good'));
    expect(scripted.evaluations.map(({ timeout, accepts }) => [timeout, accepts.length])).toMatchObject([
      [{ seconds: 1n, nanos: 500_000_000 }, 2],
      [undefined, 0],
    ]);
    scripted.close();
  });
});
