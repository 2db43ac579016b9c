import http2 from 'node:http2';
import { toBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CreateEventsRequest,
  CreateEventsRequestSchema,
} from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { messageMapper } from '../../../src/serve/connect/message-mapper.js';
import type { TestService } from '../../support/service.js';
import { suiteService } from '../../support/service-suite.js';
import {
  envelope,
  exchangeOver,
  type Forms,
  formsOf,
  jsonFormsOf,
  MANY,
  plainEvent,
} from './messages.support.js';

const SERVICE = '/enforcement.v1.ObservabilityService';
const REST = '/api/v1/observability/events';

/** The same service twice: one reads large messages in a thread, the other one does not. */

const threaded = suiteService({ SERVICE_EVENT_READER_THREADS: '1' });
const plain = suiteService({ SERVICE_EVENT_READER_THREADS: '0' });

const events = (last: JsonObject = {}) =>
  Array.from({ length: MANY }, (_, index) => plainEvent(`ID-${index}`, index === MANY - 1 ? last : {}));
const without = (...names: string[]): JsonObject => {
  const last = plainEvent(`ID-${MANY - 1}`);
  for (const name of names) delete last[name];
  return last;
};
const all = (last: JsonObject) => formsOf([...events().slice(0, -1), last]);

function nested(levels: number): JsonObject {
  let value: JsonValue = 1;
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value as JsonObject;
}

/** A message in the binary form, after a change that no plain value has. */
function changed(change: (message: CreateEventsRequest) => void): Forms {
  const message = messageMapper(CreateEventsRequestSchema).fromPlain({
    events: events(),
  }) as CreateEventsRequest;
  change(message);
  return { binary: toBinary(CreateEventsRequestSchema, message) };
}
const bytesOf = (forms: Forms, form: keyof Forms) => Buffer.from(forms[form] ?? []);
const inJson = (change: (text: string) => string): Forms => {
  const forms = formsOf(events());
  return {
    rest: Buffer.from(change(bytesOf(forms, 'rest').toString())),
    json: Buffer.from(change(bytesOf(forms, 'json').toString())),
  };
};
const last = (change: (event: JsonObject) => void) => jsonFormsOf(events(), change);

/** Messages by what is special about them. `ID` is replaced by a text of the same length, so that ids are new. */
const CASES: Readonly<Record<string, Forms>> = {
  'all valid': formsOf(events()),
  'no id, no time': all(without('control_execution_id', 'timestamp')),
  'an agent name to normalise': all({ ...without(), agent_name: ' READING-Bot-01 ' }),
  'an agent name that is too short': all({ ...without(), agent_name: 'short' }),
  'an agent name that is too long to be stored': all({ ...without(), agent_name: 'a'.repeat(256) }),
  'an id that is too long to be stored': all({ ...without(), control_execution_id: 'x'.repeat(37) }),
  'a NUL character': all({ ...without(), control_name: 'a\0b' }),
  'a long control name': all({ ...without(), control_name: 'long'.repeat(40) }),
  'a missing member': all(without('trace_id')),
  'several missing members': all(without('trace_id', 'agent_name', 'matched', 'check_stage')),
  'a blank trace': all({ ...without(), trace_id: '  ' }),
  'a number out of range': all({ ...without(), confidence: 2 }),
  'a number that is not finite': changed(({ events: sent }) =>
    Object.assign(sent[3] ?? {}, { confidence: NaN }),
  ),
  'an enum value that is unknown': changed(({ events: sent }) =>
    Object.assign(sent[3] ?? {}, { action: 77 }),
  ),
  'a struct with a number that is not finite': changed(({ events: sent }) =>
    Object.assign(sent[3] ?? {}, { metadata: { deep: [1, { n: Number.NaN }] } }),
  ),
  'a time that is none': all({ ...without(), timestamp: 'yesterday' }),
  'a time without a zone': all({ ...without(), timestamp: '2026-02-03 04:05:06' }),
  'metadata at the limit of depth': all({ ...without(), metadata: nested(199) }),
  'metadata nested too deeply': all({ ...without(), metadata: nested(240) }),
  'more levels than any message': all({ ...without(), metadata: nested(600) }),
  'an empty step text': all({ ...without(), session_id: '' }),
  'a step name that is too long': all({ ...without(), step_name: 'n'.repeat(1_025) }),
  'too many events': formsOf(Array.from({ length: 1_001 }, (_, index) => plainEvent(`ID-${index}`))),
  'a hundred thousand empty events': {
    binary: Buffer.from('0a00'.repeat(100_000), 'hex'),
  },
  'many invalid events': formsOf(
    Array.from({ length: 1_000 }, (_, index) => plainEvent(`ID-${index}`, { confidence: 3, trace_id: '' })),
  ),
  'no event': { rest: padded('{"events":[]', '}'), json: padded('{"events":[]', '}') },
  'no events member': { rest: padded('{', '"nothing":1}'), json: padded('{', '"nothing":1}') },
  'another type of list': { rest: padded('{"events":{"a":1}', '}'), json: padded('{"events":{"a":1}', '}') },
  'an unknown member': last((event) => Object.assign(event, { agentname: 'x', confidence: 7 })),
  'an unknown member that nobody needs': last((event) => Object.assign(event, { extra: [1, 2] })),
  'members of other types': last((event) =>
    Object.assign(event, {
      matched: 'perhaps',
      confidence: [],
      control_name: 5,
      controlName: 5,
      metadata: 'm',
    }),
  ),
  'a member that occurs twice': inJson((text) => text.replace('{', '{"events":[],')),
  'an older action': last((event) => Object.assign(event, { action: 'allow' })),
  'half a surrogate pair': inJson((text) => text.replace('no-card-numbers', 'half \\ud800 a pair')),
  'a number with many digits': inJson((text) =>
    text.replace('"note":', '"big":12345678901234567890.5,"note":'),
  ),
  'invalid JSON': inJson((text) => text.replace('"events":[', '"events":[,')),
  'JSON that ends early': inJson((text) => text.slice(0, -3)),
  'JSON with an infinite number': inJson((text) => text.replace('0.1', '1e999')),
  'JSON that is a list': inJson((text) => `[${text}]`),
  'JSON that is null': inJson((text) => `null${' '.repeat(text.length)}`),
  'JSON nested without end': inJson((text) => `${text.slice(0, -1)},"x":${'['.repeat(20_000)}`),
  'bytes that are no UTF-8': inBytes((bytes) => bytes.fill(0xff, 9_000, 9_010)),
  'a message that ends early': inBinary((bytes) => bytes.subarray(0, -5)),
  'a message with an invalid tag': inBinary((bytes) => Buffer.concat([bytes, Buffer.from([0x07, 0x01])])),
  'an unknown field': inBinary((bytes) => Buffer.concat([bytes, Buffer.from([0xa2, 0x06, 0x01, 0x41])])),
};

function padded(start: string, end: string): Buffer {
  return Buffer.from(start + ' '.repeat(10_000) + end);
}
function inBytes(change: (bytes: Buffer) => Buffer): Forms {
  const forms = formsOf(events());
  return {
    rest: change(bytesOf(forms, 'rest')),
    json: change(bytesOf(forms, 'json')),
    binary: change(bytesOf(forms, 'binary')),
  };
}
function inBinary(change: (bytes: Buffer) => Buffer): Forms {
  return { binary: change(bytesOf(formsOf(events()), 'binary')) };
}

interface Way {
  readonly path: string;
  readonly contentType: string;
  readonly form: keyof Forms;
  readonly body: (message: Buffer) => Buffer;
}

const ways = (rpc: string, isUnary: boolean): Record<string, Way> => ({
  [`${rpc} gRPC`]: way(rpc, 'application/grpc', 'binary', envelope),
  [`${rpc} gRPC JSON`]: way(rpc, 'application/grpc+json', 'json', envelope),
  [`${rpc} gRPC-Web`]: way(rpc, 'application/grpc-web+proto', 'binary', envelope),
  [`${rpc} gRPC-Web JSON`]: way(rpc, 'application/grpc-web+json', 'json', envelope),
  [`${rpc} Connect`]: isUnary
    ? way(rpc, 'application/proto', 'binary', (message) => message)
    : way(rpc, 'application/connect+proto', 'binary', envelope),
  [`${rpc} Connect JSON`]: isUnary
    ? way(rpc, 'application/json', 'json', (message) => message)
    : way(rpc, 'application/connect+json', 'json', envelope),
});
function way(rpc: string, contentType: string, form: keyof Forms, body: Way['body']): Way {
  return { path: `${SERVICE}/${rpc}`, contentType, form, body };
}

const WAYS: Readonly<Record<string, Way>> = {
  REST: { path: REST, contentType: 'application/json', form: 'rest', body: (message) => message },
  ...ways('CreateEvents', true),
  ...ways('IngestEvents', false),
  ...ways('PublishEvents', false),
};

/** With other ids of the same length, because an id is stored once. */
function renamed(message: Uint8Array, name: string): Buffer {
  return Buffer.from(Buffer.from(message).toString('latin1').replaceAll('ID-', `${name}-`), 'latin1');
}

const names = Object.keys(WAYS);
/**
 * These ways take all cases. Those of streams differ in how messages arrive, not in how one is read: they take the cases
 * by turns, so that each is taken by four of them.
 */
const isUnary = (wayName: string): boolean => !/^(?:Ingest|Publish)Events /.test(wayName);
const nameOf = (wayName: string, index: number) =>
  `${String.fromCharCode(65 + names.indexOf(wayName))}${String.fromCharCode(65 + index)}`;

describe.each(names)('a large message over %s', (wayName) => {
  const { path, contentType, form, body } = WAYS[wayName] as Way;
  let sessions: http2.ClientHttp2Session[] = [];
  beforeAll(() => {
    sessions = [threaded, plain].map(({ url }) => http2.connect(url));
  });
  afterAll(() => {
    for (const session of sessions) session.close();
  });
  const cases = Object.entries(CASES)
    .filter(([, forms]) => forms[form] !== undefined)
    .filter((_, index) => isUnary(wayName) || (index + names.indexOf(wayName)) % 3 === 0);

  it.each(cases.map(([name], index) => [name, index] as const))(
    'with %s has the same reply',
    async (name, index) => {
      const message = renamed(CASES[name]?.[form] ?? Buffer.of(), nameOf(wayName, index));
      expect(message.length).toBeGreaterThan(8_192);
      const sent = body(message);
      const [one, other] = await Promise.all(
        sessions.map((session) => exchangeOver(session, path, contentType, sent)),
      );
      expect(one).toEqual(other);
    },
  );
});

/** All that is stored, with the ids and times that the service makes up blanked. */
async function storedIn({ url }: TestService): Promise<string[]> {
  const reply = await fetch(`${url}${REST}/export`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"include_step":true}',
  });
  const lines = (await reply.text()).trim().split('\n');
  const madeUp = /"[0-9a-f]{8}-[0-9a-f-]{27}"|"20\d\d-\d\d-\d\dT[\d:.]+Z"/g;
  return lines.map((line) => line.replace(madeUp, '""')).sort();
}

it('stores the same events', async () => {
  const [one, other] = await Promise.all([storedIn(threaded), storedIn(plain)]);
  expect(one.length).toBeGreaterThan(MANY * names.length * 3);
  expect(one).toEqual(other);
});
