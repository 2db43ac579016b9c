import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DATABASE_KINDS, type DatabaseKind, describeOnEachDatabase } from '../support/databases.js';
import {
  methodNamed,
  type Outcome,
  PROTOCOLS,
  type ProtocolClient,
  type ProtocolName,
  STREAMING_PROTOCOLS,
} from '../support/protocol-clients.js';
import { startService, type TestService } from '../support/service.js';
import { STEPS } from './every-rpc.steps.js';
import {
  ADMIN_KEY,
  evaluation,
  inputOf,
  OPERATOR_KEY,
  READER_KEY,
  type Step,
  TOKEN_SETTINGS,
} from './every-rpc.support.js';

/** The stream that the script itself is played over, after it. */
export const STREAM = 'EvaluationService.EvaluateStream';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TOKEN = /^eyJ[\w-]+\.[\w-]+\.[\w-]{43}$/;
const HASH = /^[0-9a-f]{64}$/;
const SECRET = /^cek_[0-9A-Za-z]{46}$/;
const WEBHOOK_SECRET = /^whsec_[0-9A-Za-z+/]{43}=$/;
const MESSAGE_ID = /^msg_[0-9a-f-]{36}\.\d+$/;
const PREFIX = /^cek_[0-9A-Za-z]{4}$/;
const FINGERPRINT = /^[0-9a-f]{12}$/;
const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?Z$/;
const NAIVE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/;
const KEY_ID = /^[\w-]{43}$/;
const DURATION = /^\d+(?:\.\d+)?s$/;
const REST_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** What every other play is held against. */
const BASELINE = 'REST over h1';

async function start(databaseUrl?: string): Promise<TestService> {
  return startService({
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_API_KEYS: READER_KEY,
    SERVICE_ADMIN_API_KEYS: ADMIN_KEY,
    SERVICE_OPERATOR_API_KEYS: OPERATOR_KEY,
    ...TOKEN_SETTINGS,
  });
}

let baseline: Promise<readonly Outcome[]> | undefined;

/** How the script goes on SQLite over REST over HTTP/1.1. */
function baselineOutcomes(): Promise<readonly Outcome[]> {
  baseline ??= (async () => {
    const service = await start();
    const client = PROTOCOLS[BASELINE](service.url);
    const outcomes: Outcome[] = [];
    for (const step of STEPS) outcomes.push(await play(client, step));
    client.close();
    await service.stop();
    return outcomes;
  })();
  return baseline;
}

/** Plays the script, over the protocols of each play by turns. */
export function describeEveryRpc(plays: Record<DatabaseKind, readonly (readonly ProtocolName[])[]>): void {
  describeOnEachDatabase('every RPC', (freshDatabaseUrl, kind) => {
    describe.each(plays[kind].map((protocols) => [protocols.join(' and '), protocols] as const))(
      'over %s',
      (_names, protocols) => {
        let service: TestService;
        let clients: ProtocolClient[] = [];
        let outcomes: readonly Outcome[];
        const isBaseline = kind === 'sqlite' && protocols.join() === BASELINE;
        const turnOf = (index: number) => index % protocols.length;
        beforeAll(async () => {
          outcomes = await baselineOutcomes();
          service = await start(await freshDatabaseUrl());
          clients = protocols.map((protocol) => PROTOCOLS[protocol](service.url));
        });
        afterAll(async () => {
          for (const client of clients) client.close();
          await service.stop();
        });

        it.each(STEPS.map((step, index) => ({ ...step, index })))(
          '$rpc $what',
          async ({ index, ...step }) => {
            const outcome = isBaseline
              ? outcomes[index]
              : await play(clients[turnOf(index)] as ProtocolClient, step);
            check(outcome, step, protocols[turnOf(index)] as ProtocolName);
            // An error in the form of another protocol has no place for fields.
            const hasFields = [outcome, outcomes[index]].every(
              (one) => one?.ok !== false || one.fields !== null,
            );
            expect(alike(outcome, protocols[turnOf(index)] as ProtocolName, hasFields)).toEqual(
              alike(outcomes[index], BASELINE, hasFields),
            );
          },
        );

        for (const [turn, protocol] of protocols.entries()) {
          const client = () => clients[turn] as ProtocolClient;
          if (STREAMING_PROTOCOLS.includes(protocol)) describeStream(protocol, client);
          else if (!protocol.startsWith('REST'))
            it(`${STREAM} reports that it needs HTTP/2 (${protocol})`, async () => {
              // 505 is "HTTP Version Not Supported".
              await expect(client().stream(methodNamed(STREAM), MESSAGES, READER_KEY)).rejects.toThrow(/505/);
            });
        }
      },
    );
  });
}

function describeStream(protocol: ProtocolName, client: () => ProtocolClient): void {
  it(`${STREAM} answers every message, and an error has a status of its own (${protocol})`, async () => {
    await client().call(methodNamed('AgentService.AddAgentControl'), LINK, ADMIN_KEY);
    const replies = await client().stream(methodNamed(STREAM), MESSAGES, READER_KEY);
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

  it(`${STREAM} requires a key (${protocol})`, async () => {
    await expect(client().stream(methodNamed(STREAM), MESSAGES)).rejects.toMatchObject({ code: 16 });
  });
}

const LINK = { agent_name: 'billing-bot-01', control_id: 3 };
const evaluates = (text: string, agentName = LINK.agent_name) => evaluation(agentName, text);
const MESSAGES = [
  { id: 'deny', evaluations: [evaluates('4111111111111111')] },
  { id: 'mixed', evaluations: [evaluates('hello'), evaluates('hello', 'nobody-at-all'), { stage: 'pre' }] },
  { id: 'empty', evaluations: [] },
];

async function play(client: ProtocolClient, { rpc, input, key }: Omit<Step, 'expected'>): Promise<Outcome> {
  const listSamples = async () => {
    const outcome = await client.call(methodNamed('SampleService.ListSamples'), { limit: 1 }, ADMIN_KEY);
    return outcome.ok ? outcome.reply : outcome;
  };
  return client.call(methodNamed(rpc), await inputOf({ input }, listSamples), key ?? undefined);
}

function check(outcome: Outcome | undefined, { expected }: Step, protocol: ProtocolName): void {
  if ('reply' in expected) {
    expect(outcome).toMatchObject({ ok: true, reply: expected.reply });
    return;
  }
  const { reason, http, grpc, fields } = expected;
  const status = protocol.startsWith('REST') ? http : grpc;
  expect(outcome).toMatchObject({
    ok: false,
    reason,
    status,
    ...(fields === undefined || outcome?.ok !== false || outcome.fields === null ? {} : { fields }),
  });
}

/** Members about what was evaluated where, and when. */
const OF_COVERAGE = [
  'evaluated',
  'first_seen_at',
  'last_seen_at',
  'points',
  'never_seen',
  'unchecked_steps',
  'unchecked_step_count',
];

/** What must be the same over every protocol: execution ids and times are checked and then left out, so is the status. */
function alike(outcome: Outcome | undefined, protocol: ProtocolName, hasFields: boolean): unknown {
  // JSON of protobuf prints no fraction of a whole second.
  const zonedTime = protocol.startsWith('REST') ? REST_TIME : TIMESTAMP;
  if (outcome?.ok !== true) return { ...outcome, status: undefined, ...(hasFields ? {} : { fields: null }) };
  // What was evaluated of an agent is written within a second, and names the protocol.
  const { steps, ...others } = outcome.reply;
  const reply = 'coverage' in others ? others : { steps, ...others };
  return JSON.parse(JSON.stringify(reply), (key, value: unknown) => {
    if (OF_COVERAGE.includes(key)) return undefined;
    if (key === 'store' && DATABASE_KINDS.includes(value as DatabaseKind)) return 'the database';
    if (key === 'control_execution_id') return UUID.test(String(value)) ? 'an id' : value;
    // The JSON routes print these only if they are asked for: evaluation-options.test.ts.
    if (
      ['outcome', 'decision_id', 'selected_controls', 'evaluated_controls', 'skipped_controls'].includes(key)
    )
      return undefined;
    if (key.endsWith('hash') && HASH.test(String(value))) return 'a hash';
    if (key === 'secret' && (SECRET.test(String(value)) || WEBHOOK_SECRET.test(String(value))))
      return 'a secret';
    if (key === 'message_id' && MESSAGE_ID.test(String(value))) return 'the id of a message';
    // What the sender has tried meanwhile.
    if (['attempts', 'last_attempt_at', 'next_attempt_at', 'last_error'].includes(key)) return undefined;
    if (key === 'prefix' && PREFIX.test(String(value))) return 'the start of a secret';
    if (key === 'fingerprint' && FINGERPRINT.test(String(value))) return 'a fingerprint';
    if (key === 'previous_secret_until' && zonedTime.test(String(value))) return 'a time with its zone';
    if (key === 'request_id' && UUID.test(String(value))) return 'an id';
    if (key === 'token' && TOKEN.test(String(value))) return 'a token';
    if (key === 'time' && zonedTime.test(String(value))) return 'a time with its zone';
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
    if (key === 'expires_at' && (UTC_TIME.test(String(value)) || TIMESTAMP.test(String(value))))
      return 'a time in UTC';
    if (['at', 'approved_until'].includes(key) && zonedTime.test(String(value)))
      return 'a time with its zone';
    if (
      (key.endsWith('ed_at') || ['set_at', 'since', 'taken_at'].includes(key)) &&
      zonedTime.test(String(value))
    )
      return 'a time with its zone';
    return value;
  });
}
