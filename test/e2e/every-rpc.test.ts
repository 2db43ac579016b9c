import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type DatabaseKind, describeOnEachDatabase } from '../support/databases.js';
import {
  methodNamed,
  type Outcome,
  PROTOCOL_NAMES,
  PROTOCOLS,
  type ProtocolClient,
  type ProtocolName,
  SERVICES,
  STREAMING_PROTOCOLS,
} from '../support/protocol-clients.js';
import { decisionOf } from '../support/rpc-decisions.js';
import { startService, type TestService } from '../support/service.js';
import { STEPS } from './every-rpc.steps.js';
import {
  ADMIN_KEY,
  evaluation,
  OPERATOR_KEY,
  READER_KEY,
  type Step,
  TOKEN_SETTINGS,
} from './every-rpc.support.js';

/** The stream that the script itself is played over, after it. */
const STREAM = 'EvaluationService.EvaluateStream';
const RPCS = SERVICES.flatMap((service) =>
  service.methods.map(({ name, methodKind }) => ({ rpc: `${service.name}.${name}`, name, methodKind })),
);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TOKEN = /^eyJ[\w-]+\.[\w-]+\.[\w-]{43}$/;
const HASH = /^[0-9a-f]{64}$/;
const SECRET = /^cek_[0-9A-Za-z]{46}$/;
const PREFIX = /^cek_[0-9A-Za-z]{4}$/;
const FINGERPRINT = /^[0-9a-f]{12}$/;
const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?Z$/;
const NAIVE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/;
const KEY_ID = /^[\w-]{43}$/;
const DURATION = /^\d+(?:\.\d+)?s$/;
const ZONED_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('the script', () => {
  it('calls every RPC of the API, each with what it is for and with an error', () => {
    const called = (wanted: 'reply' | 'reason') =>
      new Set(STEPS.filter(({ expected }) => wanted in expected).map(({ rpc }) => rpc));
    const unary = RPCS.filter(({ methodKind }) => methodKind === 'unary').map(({ rpc }) => rpc);
    expect([...called('reply')].sort()).toEqual(unary.sort());
    // A public one without members cannot fail.
    const failing = unary.filter((rpc) => decisionOf(rpc).access !== 'public');
    expect([...called('reason')].sort()).toEqual(failing);
  });

  it('covers every stream of the API, each of the others in a file that is named like it', () => {
    const streams = RPCS.filter(({ rpc, methodKind }) => methodKind !== 'unary' && rpc !== STREAM);
    const without = streams.filter(({ name }) => {
      const file = `${name.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.test.ts`;
      return !existsSync(path.join(import.meta.dirname, file));
    });
    expect(without).toEqual([]);
    expect(streams.length).toBeGreaterThan(5);
  });
});

/** A protocol is the same with each database: with the second one, JSON and messages of the proto are compared. */
const PROTOCOLS_ON: Record<DatabaseKind, readonly ProtocolName[]> = {
  sqlite: PROTOCOL_NAMES,
  postgresql: ['REST over h1', 'gRPC (grpc-js)'],
};

describeOnEachDatabase('every RPC', (freshDatabaseUrl, kind) => {
  const start = async (): Promise<TestService> =>
    startService({
      DATABASE_URL: await freshDatabaseUrl(),
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_API_KEYS: READER_KEY,
      SERVICE_ADMIN_API_KEYS: ADMIN_KEY,
      SERVICE_OPERATOR_API_KEYS: OPERATOR_KEY,
      ...TOKEN_SETTINGS,
    });

  /** How the script goes over REST over HTTP/1.1: what every other protocol is held against. */
  const baseline: Outcome[] = [];
  beforeAll(async () => {
    const service = await start();
    const client = PROTOCOLS['REST over h1'](service.url);
    for (const step of STEPS) baseline.push(await play(client, step));
    client.close();
    await service.stop();
  });

  describe.each(PROTOCOLS_ON[kind])('over %s', (protocol) => {
    let service: TestService;
    let client: ProtocolClient;
    beforeAll(async () => {
      service = await start();
      client = PROTOCOLS[protocol](service.url);
    });
    afterAll(async () => {
      client.close();
      await service.stop();
    });

    it.each(STEPS.map((step, index) => ({ ...step, index })))('$rpc $what', async ({ index, ...step }) => {
      const outcome = await play(client, step);
      check(outcome, step, protocol);
      expect(alike(outcome)).toEqual(alike(baseline[index]));
    });

    if (!STREAMING_PROTOCOLS.includes(protocol)) return;

    it(`${STREAM} answers every message, and an error has a status of its own`, async () => {
      await client.call(methodNamed('AgentService.AddAgentControl'), LINK, ADMIN_KEY);
      const replies = await client.stream(methodNamed(STREAM), MESSAGES, READER_KEY);
      expect(replies).toHaveLength(MESSAGES.length);
      const byId = new Map(replies.map(({ id, results }) => [id, results]));
      expect(byId.get('deny')).toMatchObject([
        { verdict: { is_safe: false, matches: [{ control_id: 3, action: 'deny' }] }, error: null },
      ]);
      expect(byId.get('mixed')).toMatchObject([
        { verdict: { is_safe: true, matches: [], non_matches: [{ control_id: 3 }] }, error: null },
        { verdict: null, error: { code: 5, details: ['google.rpc.ErrorInfo'] } },
        { verdict: null, error: { code: 3, details: ['google.rpc.ErrorInfo', 'google.rpc.BadRequest'] } },
      ]);
      expect(byId.get('empty')).toMatchObject([{ verdict: null, error: { code: 3 } }]);
    });

    it(`${STREAM} requires a key`, async () => {
      await expect(client.stream(methodNamed(STREAM), MESSAGES)).rejects.toMatchObject({ code: 16 });
    });
  });

  it.each(['gRPC-Web over h1', 'Connect over h1', 'Connect with JSON over h1'] as const)(
    'EvaluateStream reports over %s that it needs HTTP/2',
    async (protocol) => {
      const service = await start();
      const client = PROTOCOLS[protocol](service.url);
      onTestFinished(() => service.stop());
      onTestFinished(() => client.close());
      // 505 is "HTTP Version Not Supported".
      await expect(client.stream(methodNamed(STREAM), MESSAGES, READER_KEY)).rejects.toThrow(/505/);
    },
  );
});

const LINK = { agent_name: 'billing-bot-01', control_id: 3 };
const evaluates = (text: string, agentName = LINK.agent_name) => evaluation(agentName, text);
const MESSAGES = [
  { id: 'deny', evaluations: [evaluates('4111111111111111')] },
  { id: 'mixed', evaluations: [evaluates('hello'), evaluates('hello', 'nobody-at-all'), { stage: 'pre' }] },
  { id: 'empty', evaluations: [] },
];

function play(client: ProtocolClient, { rpc, input, key }: Omit<Step, 'expected'>): Promise<Outcome> {
  return client.call(methodNamed(rpc), input, key ?? undefined);
}

function check(outcome: Outcome, { expected }: Step, protocol: ProtocolName): void {
  if ('reply' in expected) {
    expect(outcome).toMatchObject({ ok: true, reply: expected.reply });
    return;
  }
  const { reason, http, grpc, fields } = expected;
  const status = protocol.startsWith('REST') ? http : grpc;
  expect(outcome).toMatchObject({ ok: false, reason, status, ...(fields === undefined ? {} : { fields }) });
}

/** What must be the same over every protocol: execution ids and times are checked and then left out, so is the status. */
function alike(outcome: Outcome | undefined): unknown {
  if (outcome?.ok !== true) return { ...outcome, status: undefined };
  return JSON.parse(JSON.stringify(outcome.reply), (key, value: unknown) => {
    if (key === 'control_execution_id') return UUID.test(String(value)) ? 'an id' : value;
    // The JSON routes print these only if they are asked for: evaluation-options.test.ts.
    if (
      ['outcome', 'decision_id', 'selected_controls', 'evaluated_controls', 'skipped_controls'].includes(key)
    )
      return undefined;
    if (key.endsWith('hash') && HASH.test(String(value))) return 'a hash';
    if (key === 'secret' && SECRET.test(String(value))) return 'a secret';
    if (key === 'prefix' && PREFIX.test(String(value))) return 'the start of a secret';
    if (key === 'fingerprint' && FINGERPRINT.test(String(value))) return 'a fingerprint';
    if (key === 'previous_secret_until' && ZONED_TIME.test(String(value))) return 'a time with its zone';
    if (key === 'request_id' && UUID.test(String(value))) return 'an id';
    if (key === 'token' && TOKEN.test(String(value))) return 'a token';
    if (key === 'time' && ZONED_TIME.test(String(value))) return 'a time with its zone';
    if (key === 'duration_us' && typeof value === 'number' && value >= 0) return 'a duration';
    if (key === 'created_at' && NAIVE_TIME.test(String(value))) return 'a time';
    if (['timestamp', 'counted_since'].includes(key) && UTC_TIME.test(String(value))) return 'a time in UTC';
    if (key === 'key_id' && KEY_ID.test(String(value))) return 'the id of a key of memory';
    if (key === 'resets_after' && DURATION.test(String(value))) return 'a duration';
    if (key === 'resets_after_seconds' && Number(value) > 0) return 'a duration';
    if (key === 'counts_since' && TIMESTAMP.test(String(value))) return 'a time in UTC';
    // As of the last sweep of the process.
    if (['keys', 'bytes'].includes(key) && /^\d+$/.test(String(value))) return 'a number';
    if (key.endsWith('_time') && TIMESTAMP.test(String(value))) return 'a time in UTC';
    if (key === 'expires_at' && UTC_TIME.test(String(value))) return 'a time in UTC';
    if ((key.endsWith('ed_at') || key === 'since') && ZONED_TIME.test(String(value)))
      return 'a time with its zone';
    return value;
  });
}
