import { toBinary, toJsonString } from '@bufbuild/protobuf';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  EvaluateBatchRequestSchema,
  EvaluateRequestSchema,
  EvaluateStreamRequestSchema,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { type JsonObject, type JsonValue, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { messageMapper } from '../../../src/serve/connect/message-mapper.js';
import { restClient } from '../../support/http.js';
import { seeder } from '../../support/seed.js';
import type { TestService } from '../../support/service.js';
import { suiteService } from '../../support/service-suite.js';
import { envelope, exchange, type Forms } from '../event-reading/messages.support.js';
import { FILLER, startedThread } from './heavy-steps.support.js';

const SERVICE = '/enforcement.v1.EvaluationService';
const AGENT = 'agent-of-large-steps';
const NO_THREAD = new URL('./there-is-no-thread.mjs', import.meta.url);

/** The same service twice: one passes large messages to its thread, the other one has no thread. */

const leaf = (path: string, name: string, config: JsonObject) => ({
  selector: { path },
  evaluator: { name, config },
});
const CONTROLS: readonly JsonObject[] = [
  { condition: leaf('input', 'regex', { pattern: 'secret-\\d{3}' }), action: { decision: 'deny' } },
  {
    condition: leaf('input', 'list', { values: ['careful'], match_mode: 'contains' }),
    action: { decision: 'steer', steering_context: { message: 'Ask first.' } },
  },
  {
    condition: {
      and: [leaf('*', 'regex', { pattern: 'lorem' }), leaf('output', 'regex', { pattern: 'key' })],
    },
    scope: { stages: ['post'] },
    action: { decision: 'observe' },
  },
  {
    condition: leaf('input', 'json', { field_constraints: { amount: { max: 9007199254740992 } } }),
    action: { decision: 'deny' },
  },
  { condition: leaf('input.query', 'sql', { blocked_operations: ['DROP'] }), action: { decision: 'deny' } },
  {
    condition: { selector: { path: 'context.tenant', required: true }, evaluator: leafOf('regex', 'x') },
    scope: { step_names: ['needs-tenant'] },
    action: { decision: 'deny' },
  },
  { condition: leaf('input', 'nowhere', {}), scope: { step_names: ['odd'] }, action: { decision: 'deny' } },
];
function leafOf(name: string, pattern: string) {
  return { name, config: { pattern } };
}

/** Steps with schemas: those named `registered` are compared with them. */
const REGISTERED = [
  {
    type: 'tool',
    name: 'registered',
    input_schema: {
      type: 'object',
      required: ['to'],
      properties: { to: { type: 'string' }, text: { maxLength: 1_000_000 } },
    },
    output_schema: { type: 'object' },
  },
];

async function seeded(service: TestService): Promise<void> {
  const seed = seeder(restClient(service.url));
  await seed.agent(AGENT, { steps: REGISTERED });
  for (const [index, data] of CONTROLS.entries()) {
    await seed.link(AGENT, await seed.control(`control-${index}`, { execution: 'server', ...data }));
  }
}

const threaded = suiteService();
const plain = suiteService({}, { heavyStepsEntry: NO_THREAD });
beforeAll(async () => {
  for (const service of [threaded, plain]) await seeded(service);
  await startedThread(threaded, AGENT);
});

const tool = (input: JsonValue, more: JsonObject = {}): JsonObject => ({
  agent_name: AGENT,
  stage: 'pre',
  step: { type: 'tool', name: 'run', input, ...more },
});
const good = tool({ text: FILLER });
const denied = tool({ text: `${FILLER} secret-123` });

function nested(levels: number): JsonObject {
  let value: JsonValue = 1;
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value as JsonObject;
}

/** Requests that protobuf can hold. */
const REQUESTS: Readonly<Record<string, JsonObject>> = {
  'nothing to find': good,
  'a match of a deny control': denied,
  'a match of a steer control': tool({ text: `careful ${FILLER}` }),
  'a match in its output': { ...tool({ text: FILLER }, { output: { key: 'value' } }), stage: 'post' },
  'a large output and context': tool({ a: 1 }, { output: FILLER, context: { note: FILLER, tenant: 'x' } }),
  'SQL that is blocked': tool({ text: FILLER, query: `SELECT 1; DROP TABLE users -- ${FILLER}` }),
  'missing data that a control requires': tool({ text: FILLER }, { name: 'needs-tenant' }),
  'data that its schema allows': tool({ to: 'x', text: FILLER }, { name: 'registered' }),
  'data that its schema forbids': tool({ text: FILLER }, { name: 'registered' }),
  'an output that its schema forbids': {
    ...tool({ to: 'x' }, { name: 'registered', output: [FILLER] }),
    stage: 'post',
  },
  'data that its schema forbids, with the outcome': {
    ...tool({ to: 7, text: FILLER }, { name: 'registered' }),
    accepts: ['deny'],
  },
  'an evaluator that does not exist': tool({ text: FILLER }, { name: 'odd' }),
  'outcomes that the caller accepts': { ...denied, accepts: ['deny'] },
  'a session, a step id and a time limit': { ...good, session_id: 's', step_id: 'i', timeout: '30s' },
  'the error of a step': { ...good, stage: 'post', step_error: 'it failed' },
  'the error of a step that has not run': { ...good, step_error: 'it failed' },
  'a target, which has no effect': { ...good, target_type: 'env', target_id: 'prod' },
  'full detail': { ...denied, detail: 'full' },
  'an unknown agent': { ...good, agent_name: 'agent-that-nobody-has' },
  'an agent name to normalise': { ...good, agent_name: ` ${AGENT.toUpperCase()} ` },
  'an agent name that is too short': { ...good, agent_name: 'short' },
  'no stage': { agent_name: AGENT, step: good.step as JsonObject },
  'no step, but a long session': { agent_name: AGENT, stage: 'pre', session_id: FILLER },
  'a tool step without an object': tool(FILLER),
  'a step without a name': tool({ text: FILLER }, { name: '' }),
  'a traceparent that is none': { ...good, traceparent: 'no' },
  'nesting beyond the limit': tool({ text: FILLER, deep: nested(240) }),
  'many values': tool({ text: FILLER, list: Array.from({ length: 2_000 }, (_, index) => ({ index })) }),
  'texts of many kinds': tool({ text: `${FILLER} ünï \u{1f600} \\" \u0001`, '': 1, __proto: { a: null } }),
};

/** Changes of the JSON text of a request. */
const TEXTS: Readonly<Record<string, (text: string) => string>> = {
  'a number that no double holds': (text) => text.replace('"text":', '"amount":9007199254740993.5,"text":'),
  'a large integer': (text) => text.replace('"text":', '"amount":90071992547409939,"text":'),
  'a member that is called __proto__': (text) => text.replace('"text":', '"__proto__":{"x":1},"text":'),
  'a member that occurs twice': (text) => text.replace('"text":', '"text":"secret-123","text":'),
  'half a surrogate pair': (text) => text.replace('lorem', 'half \\ud800 a pair'),
  'invalid JSON': (text) => text.replace('"text":', '"text":,'),
  'JSON that ends early': (text) => text.slice(0, -3),
  'an infinite number': (text) => text.replace('"text":', '"amount":1e999,"text":'),
  'a list around it': (text) => `[${text}]`,
  'nothing but null': (text) => `null${' '.repeat(text.length)}`,
  'nesting without end': (text) => `${text.slice(0, -1)},"x":${'['.repeat(20_000)}`,
  'an unknown member': (text) => text.replace('"stage"', '"stagge":1,"stage"'),
};
/** Changes of the bytes of a message. */
const BYTES: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  'bytes that are no UTF-8': (bytes) => Buffer.from(bytes).fill(0xff, 60_000, 60_010),
  'an end that is missing': (bytes) => bytes.subarray(0, -5),
  'an invalid tag': (bytes) => Buffer.concat([bytes, Buffer.from([0x07, 0x01])]),
  'an unknown field': (bytes) => Buffer.concat([bytes, Buffer.from([0xa2, 0x06, 0x01, 0x41])]),
};

const batchOf = (items: readonly JsonObject[]): JsonObject => ({ evaluations: [...items] });
const four = Object.entries(REQUESTS);
/** Batches large enough to be passed on. */
const BATCHES: Readonly<Record<string, JsonObject>> = {
  'all kinds of requests': batchOf(Object.values(REQUESTS)),
  'the same request many times': batchOf(Array.from({ length: 12 }, () => denied)),
  'no evaluations': { evaluations: [] },
};

const SCHEMAS = {
  Evaluate: EvaluateRequestSchema,
  EvaluateBatch: EvaluateBatchRequestSchema,
  EvaluateStream: EvaluateStreamRequestSchema,
} as const;
type Rpc = keyof typeof SCHEMAS;

const isRest = (plain: JsonObject) => plain.detail === undefined;
function formsOf(rpc: Rpc, plain: JsonObject): Forms {
  const schema = SCHEMAS[rpc];
  const message = messageMapper(schema).fromPlain(plain) as never;
  return {
    ...(isRest(plain) ? { rest: Buffer.from(stringifyJson(plain)) } : {}),
    json: Buffer.from(toJsonString(schema, message)),
    binary: toBinary(schema, message),
  };
}

/** The step as JSON text, after a change. */
function asText(change: (text: string) => string): JsonObject {
  const text = change(stringifyJson(good.step as JsonObject));
  return { agent_name: AGENT, stage: 'pre', step_json: Buffer.from(text).toString('base64') };
}

function evaluateCases(): Record<string, Forms> {
  const cases: Record<string, Forms> = {};
  for (const [name, plain] of four) cases[name] = formsOf('Evaluate', plain);
  const bytes = formsOf('Evaluate', good);
  for (const [name, change] of Object.entries(TEXTS)) {
    cases[`${name} in JSON`] = {
      rest: Buffer.from(change(String(bytes.rest))),
      json: Buffer.from(change(String(bytes.json))),
    };
    cases[`${name} in step_json`] = { binary: binaryOf('Evaluate', asText(change)) };
  }
  for (const [name, change] of Object.entries(BYTES)) {
    const changed = (form: keyof Forms) => change(Buffer.from(bytes[form] ?? []));
    cases[name] = { rest: changed('rest'), json: changed('json'), binary: changed('binary') };
  }
  return cases;
}

function binaryOf(rpc: Rpc, plain: JsonObject): Uint8Array {
  return toBinary(SCHEMAS[rpc], messageMapper(SCHEMAS[rpc]).fromPlain(plain) as never);
}

const PADDING = ' '.repeat(300_000);
const padded = (forms: Forms): Forms => ({
  rest: Buffer.from(`${String(forms.rest)}${PADDING}`),
  json: Buffer.from(`${String(forms.json)}${PADDING}`),
});

const CASES: Readonly<Record<Rpc, Record<string, Forms>>> = {
  Evaluate: evaluateCases(),
  EvaluateBatch: Object.fromEntries(
    Object.entries(BATCHES).map(([name, { evaluations }]) => {
      const forms = formsOf('EvaluateBatch', {
        evaluations: (evaluations as JsonObject[]).map((one) => ({ ...one, detail: undefined as never })),
      });
      return [name, (evaluations as JsonObject[]).length === 0 ? padded(forms) : forms];
    }),
  ),
  EvaluateStream: {
    'one evaluation': formsOf('EvaluateStream', { id: 'one', evaluations: [denied] }),
    'several evaluations': formsOf('EvaluateStream', {
      id: 'two',
      evaluations: [denied, { ...good, agent_name: 'agent-that-nobody-has' }, good],
    }),
    'an id that is too long': formsOf('EvaluateStream', { id: 'x'.repeat(200), evaluations: [denied] }),
    'evaluations beside a cancellation': formsOf('EvaluateStream', {
      id: 'c',
      cancel: true,
      evaluations: [denied],
    }),
    'nothing but a long id to cancel': formsOf('EvaluateStream', { id: FILLER, cancel: true }),
    'an end that is missing': {
      binary: Buffer.from(binaryOf('EvaluateStream', { id: FILLER })).subarray(0, -5),
    },
  },
};

interface Way {
  readonly rpc: Rpc;
  readonly path: string;
  readonly contentType: string;
  readonly form: keyof Forms;
  readonly body: (message: Buffer) => Buffer;
}
const bare = (message: Buffer) => message;
const ways = (rpc: Rpc): Record<string, Way> => {
  const isUnary = rpc !== 'EvaluateStream';
  const way = (contentType: string, form: keyof Forms, body: Way['body']): Way => ({
    rpc,
    path: `${SERVICE}/${rpc}`,
    contentType,
    form,
    body,
  });
  return {
    [`${rpc} over gRPC`]: way('application/grpc', 'binary', envelope),
    [`${rpc} over gRPC with JSON`]: way('application/grpc+json', 'json', envelope),
    [`${rpc} over gRPC-Web`]: way('application/grpc-web+proto', 'binary', envelope),
    [`${rpc} over Connect`]: isUnary
      ? way('application/proto', 'binary', bare)
      : way('application/connect+proto', 'binary', envelope),
    [`${rpc} over Connect with JSON`]: isUnary
      ? way('application/json', 'json', bare)
      : way('application/connect+json', 'json', envelope),
  };
};
const rest = (rpc: Rpc, path: string): Way => ({
  rpc,
  path,
  contentType: 'application/json',
  form: 'rest',
  body: bare,
});
const WAYS: Readonly<Record<string, Way>> = {
  'Evaluate over REST': rest('Evaluate', '/api/v1/evaluation'),
  'EvaluateBatch over REST': rest('EvaluateBatch', '/api/v1/evaluation/batch'),
  ...ways('Evaluate'),
  ...ways('EvaluateBatch'),
  ...ways('EvaluateStream'),
};

/** Ids that the service makes up. */
const MADE_UP = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

describe.each(Object.keys(WAYS))('a large message to %s', (wayName) => {
  const { rpc, path, contentType, form, body } = WAYS[wayName] as Way;
  const cases = Object.entries(CASES[rpc]).filter(([, forms]) => forms[form] !== undefined);

  it.each(cases)('with %s has the same reply', async (_name, forms) => {
    const sent = body(Buffer.from(forms[form] ?? []));
    expect(sent.length).toBeGreaterThan(rpc === 'EvaluateBatch' ? 256 * 1024 : 64 * 1024);
    const [one, other] = await Promise.all(
      [threaded, plain].map(async ({ url }) => {
        const reply = await exchange(url, path, contentType, Buffer.from(sent));
        return { ...reply, body: reply.body.replace(MADE_UP, 'id') };
      }),
    );
    expect(one).toEqual(other);
  });
});

/** Checks of the step that starts the thread. */
const STARTING: Readonly<Record<string, number>> = { regex: 1, list: 1, json: 1, sql: 1 };

it('has passed these messages to the thread, and counted their checks', async () => {
  const calls = async ({ url }: TestService) => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return [...text.matchAll(/_evaluator_calls_total\{evaluator="(\w+)"[^}]*\} (\d+)/g)].map(
      ([, name, count]) => [name, Number(count)],
    );
  };
  // The threaded service got one request more, with which its thread started.
  const [one, other] = [await calls(threaded), await calls(plain)];
  expect(one.map(([name]) => name)).toContain('regex');
  expect(one).toEqual(other.map(([name, count]) => [name, Number(count) + (STARTING[String(name)] ?? 0)]));
  expect(threaded.logLines.filter((line) => line.includes('the thread for large steps'))).toHaveLength(1);
});
