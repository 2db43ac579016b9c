import type { OutgoingHttpHeaders } from 'node:http';
import type { Settings } from 'node:http2';
import { create, type DescMessage, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  Detail,
  EvaluateBatchRequestSchema,
  EvaluateBatchResponseSchema,
  type EvaluateRequest,
  EvaluateRequestSchema,
  EvaluateResponseSchema,
  EvaluateStreamRequestSchema,
  EvaluateStreamResponseSchema,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { type Action, type Exchange, framed } from './exchange.js';

export const AGENT = 'conforming-agent';
export const OTHER_AGENT = 'unconforming-agent';
export const KEY = 'a-key';
/** Largest message of the service, in bytes. */
export const MAX_BYTES = 131_072;
/** Time limit of the service whose limit is what is tested, in seconds. */
export const TIMEOUT_SECONDS = 2;

const SERVICE = '/enforcement.v1.EvaluationService';
const CANCEL = 8;
const INTERNAL_ERROR = 2;

/** One case. `expected` is the gRPC status, an HTTP status when there is no gRPC reply, or a reset. */
export interface Case {
  readonly what: string;
  readonly exchange: Exchange;
  readonly expected: { readonly grpc: number } | { readonly http: number } | 'reset';
  /** It ends by this deadline, in milliseconds, or by a longer one where a reply before it takes longer. */
  readonly deadlineMs?: number;
}

export type EvaluateInit = Omit<
  Exclude<MessageInitShape<typeof EvaluateRequestSchema>, EvaluateRequest>,
  '$typeName'
>;

const step = (input: unknown, more: object = {}) =>
  Buffer.from(JSON.stringify({ type: 'llm', name: 'answer', input, ...more }));
export const request = (input: unknown, more: EvaluateInit = {}): EvaluateInit => ({
  agentName: AGENT,
  stage: Stage.PRE,
  stepForm: { case: 'stepJson', value: step(input) },
  ...more,
});
export const GOOD = request('hello');
export const BAD = request('a bad word');
const UNKNOWN_AGENT = request('hello', { agentName: 'nobody-at-all' });

interface Rpc {
  readonly path: string;
  readonly output: DescMessage;
  /** A message with these evaluations; Evaluate takes the first one. */
  message(...evaluations: EvaluateInit[]): Uint8Array;
}

const EVALUATE: Rpc = {
  path: `${SERVICE}/Evaluate`,
  output: EvaluateResponseSchema,
  message: (first) => toBinary(EvaluateRequestSchema, create(EvaluateRequestSchema, first)),
};
const BATCH: Rpc = {
  path: `${SERVICE}/EvaluateBatch`,
  output: EvaluateBatchResponseSchema,
  message: (...evaluations) =>
    toBinary(EvaluateBatchRequestSchema, create(EvaluateBatchRequestSchema, { evaluations })),
};
const STREAM: Rpc = {
  path: `${SERVICE}/EvaluateStream`,
  output: EvaluateStreamResponseSchema,
  message: (...evaluations) =>
    toBinary(EvaluateStreamRequestSchema, create(EvaluateStreamRequestSchema, { id: 'x', evaluations })),
};
const RPCS = [EVALUATE, BATCH, STREAM];

interface Details {
  readonly headers?: OutgoingHttpHeaders;
  readonly actions?: readonly Action[];
  readonly requestTrailers?: OutgoingHttpHeaders;
  readonly path?: string;
  readonly settings?: Settings;
  readonly deadlineMs?: number;
}

const HEADERS = { 'content-type': 'application/grpc', 'x-api-key': KEY };

function one(rpc: Rpc, what: string, expected: Case['expected'], details: Details = {}): Case {
  const { headers = {}, actions = [framed(rpc.message(GOOD)), 'end'], path = rpc.path } = details;
  return {
    what: `${rpc.path.split('/')[2]} ${what}`,
    expected,
    ...(details.deadlineMs === undefined ? {} : { deadlineMs: details.deadlineMs }),
    exchange: {
      path,
      output: rpc.output,
      headers: Object.fromEntries(
        Object.entries({ ...HEADERS, ...headers }).filter(([, value]) => value !== undefined),
      ),
      actions,
      ...(details.requestTrailers === undefined ? {} : { requestTrailers: details.requestTrailers }),
      ...(details.settings === undefined ? {} : { settings: details.settings }),
    },
  };
}

const OK = { grpc: 0 } as const;
const INVALID = { grpc: 3 } as const;
const EXPIRED = { grpc: 4 } as const;
const EXHAUSTED = { grpc: 8 } as const;
const UNIMPLEMENTED = { grpc: 12 } as const;
const UNAUTHENTICATED = { grpc: 16 } as const;

/** What holds for each of the RPCs. */
function common(rpc: Rpc): Case[] {
  const good = framed(rpc.message(GOOD));
  const isStream = rpc === STREAM;
  const header = (name: string, value: string | string[] | undefined) => ({ headers: { [name]: value } });
  return [
    one(rpc, 'answers', OK),
    one(rpc, 'answers an unsafe step', OK, { actions: [framed(rpc.message(BAD)), 'end'] }),
    one(rpc, 'answers a request that names a target', OK, {
      actions: [framed(rpc.message({ ...GOOD, targetType: 'env', targetId: 'prod' })), 'end'],
    }),
    one(rpc, 'answers a request that names half a target', rpc === EVALUATE ? INVALID : OK, {
      actions: [framed(rpc.message({ ...GOOD, targetType: 'env' })), 'end'],
    }),
    one(rpc, 'takes +proto', OK, header('content-type', 'application/grpc+proto')),
    one(rpc, 'takes its content type in capitals', OK, header('content-type', 'APPLICATION/GRPC')),
    one(rpc, 'does not take +cbor', { http: 415 }, header('content-type', 'application/grpc+cbor')),
    one(rpc, 'takes no parameters', { http: 415 }, header('content-type', 'application/grpc;x=y')),
    one(rpc, 'requires a content type', { http: 415 }, header('content-type', undefined)),
    one(rpc, 'requires POST', { http: 405 }, { headers: { ':method': 'PUT' } }),
    one(rpc, 'requires a known path', UNIMPLEMENTED, { path: `${rpc.path}s` }),
    one(rpc, 'answers with a query', OK, { path: `${rpc.path}?a=b` }),
    one(rpc, 'requires no te', OK, header('te', undefined)),
    one(rpc, 'requires a key', UNAUTHENTICATED, header('x-api-key', undefined)),
    one(rpc, 'requires a key before a body', UNAUTHENTICATED, {
      ...header('x-api-key', undefined),
      actions: [],
    }),
    one(rpc, 'requires a key before messages', UNAUTHENTICATED, {
      ...header('x-api-key', undefined),
      actions: [Buffer.from('garbage')],
    }),
    one(rpc, 'does not take an empty key', UNAUTHENTICATED, header('x-api-key', '')),
    one(rpc, 'does not know a key', UNAUTHENTICATED, header('x-api-key', 'other')),
    one(rpc, 'takes the first of two keys', OK, header('x-api-key', [KEY, 'other'])),
    one(rpc, 'does not take the second of two keys', UNAUTHENTICATED, header('x-api-key', ['other', KEY])),
    one(rpc, 'takes no session', UNAUTHENTICATED, {
      headers: { 'x-api-key': undefined, cookie: 'session=x' },
    }),
    one(rpc, 'takes identity', OK, header('grpc-encoding', 'identity')),
    one(rpc, 'does not know gzip', UNIMPLEMENTED, header('grpc-encoding', 'gzip')),
    one(rpc, 'does not compress replies', OK, header('grpc-accept-encoding', 'gzip,identity')),
    one(rpc, 'refuses a compressed message', INVALID, { actions: [framed(rpc.message(GOOD), 1), 'end'] }),
    one(rpc, 'ignores other flags', OK, { actions: [framed(rpc.message(GOOD), 0x82), 'end'] }),
    one(rpc, 'refuses what is no message', INVALID, { actions: [framed(Buffer.from([0xff])), 'end'] }),
    one(rpc, 'refuses what is no message before the body ends', INVALID, {
      actions: [framed(Buffer.from([0x0a, 0x05, 0x61]))],
    }),
    one(rpc, 'refuses a text that is no UTF-8', INVALID, {
      actions: [framed(Buffer.from([0x0a, 0x02, 0xc3, 0x28])), 'end'],
    }),
    one(rpc, 'requires the whole prefix', INVALID, { actions: [good.subarray(0, 4), 'end'] }),
    one(rpc, 'requires the whole message', INVALID, { actions: [good.subarray(0, -1), 'end'] }),
    one(rpc, 'answers bytes that come one by one', OK, {
      actions: [...[...good].map((byte) => Buffer.from([byte])), 'end'],
    }),
    one(rpc, 'answers a body that ends late', OK, {
      actions: [good, ...(isStream ? (['reply'] as const) : [Buffer.alloc(0)]), 'end'],
    }),
    one(rpc, 'refuses a large message by its length alone', EXHAUSTED, {
      actions: [Buffer.from([0, 0, 0x02, 0x00, 0x01])],
    }),
    one(rpc, 'refuses a message of 4 GiB', EXHAUSTED, { actions: [Buffer.from([0, 255, 255, 255, 255])] }),
    one(rpc, 'takes a message of the largest size', OK, { actions: [framed(largest(rpc)), 'end'] }),
    one(rpc, 'takes a long deadline', OK, header('grpc-timeout', '300S')),
    one(rpc, 'takes a deadline beyond all timers', OK, header('grpc-timeout', '99999999H')),
    ...['', 'x', '5', '-1S', '123456789S', '1.5S', '1 S', '1s'].map((timeout) =>
      one(rpc, `refuses the deadline "${timeout}"`, INVALID, header('grpc-timeout', timeout)),
    ),
    one(rpc, 'requires a key before a deadline', UNAUTHENTICATED, {
      headers: { 'x-api-key': undefined, 'grpc-timeout': 'x' },
    }),
    one(rpc, 'has no time left', EXPIRED, { ...header('grpc-timeout', '0n'), actions: [] }),
    one(rpc, 'ends at its deadline', EXPIRED, {
      deadlineMs: 50,
      actions: isStream ? [good, 'reply'] : [good],
    }),
    one(rpc, 'ends at its deadline inside a message', EXPIRED, {
      ...header('grpc-timeout', '50000u'),
      actions: [good.subarray(0, 9)],
    }),
    one(rpc, 'gives back a request id', OK, header('x-request-id', 'mine:1')),
    one(rpc, 'makes up an id for a bad one', OK, header('x-request-id', 'not mine')),
    one(rpc, 'does not mind an origin', OK, header('origin', 'https://example.org')),
    one(rpc, 'does not mind an authority that is none', OK, header(':authority', '[')),
    one(rpc, 'takes a lot of metadata', OK, header('big-bin', 'YWFh'.repeat(2_500))),
    one(rpc, 'refuses too much metadata', 'reset', header('big-bin', 'YWFh'.repeat(5_000))),
    one(rpc, 'takes metadata behind the body', OK, { requestTrailers: { 'some-trailer': 'x' } }),
    one(rpc, 'survives a reset before the body', 'reset', { actions: [{ resetWith: CANCEL }] }),
    one(rpc, 'survives a reset inside a message', 'reset', {
      actions: [good.subarray(0, 7), { resetWith: INTERNAL_ERROR }],
    }),
    one(rpc, 'survives a reset behind the body', 'reset', {
      actions: [good, ...(isStream ? (['reply'] as const) : []), { resetWith: CANCEL }],
    }),
  ];
}

/** What clients send seldom, for each of the RPCs. */
function odd(rpc: Rpc): Case[] {
  const good = framed(rpc.message(GOOD));
  const headers = (more: OutgoingHttpHeaders) => ({ headers: more });
  const pairs = (count: number) =>
    headers(Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-pair-${at}`, 'x'])));
  return [
    one(
      rpc,
      'takes no charset',
      { http: 415 },
      headers({ 'content-type': 'application/grpc+proto;charset=utf-8' }),
    ),
    one(
      rpc,
      'does not know +json without JSON',
      INVALID,
      headers({ 'content-type': 'application/grpc+json' }),
    ),
    one(
      rpc,
      'takes its content type with capitals in +proto',
      OK,
      headers({ 'content-type': 'application/grpc+PROTO' }),
    ),
    one(
      rpc,
      'does not take gRPC for another type',
      { http: 415 },
      headers({ 'content-type': 'application/grpcs' }),
    ),
    one(rpc, 'requires POST, not GET', { http: 405 }, headers({ ':method': 'GET' })),
    one(rpc, 'requires POST, not HEAD', { http: 405 }, headers({ ':method': 'HEAD' })),
    one(rpc, 'requires POST, not DELETE', { http: 405 }, headers({ ':method': 'DELETE' })),
    one(rpc, 'answers with a long query', OK, { path: `${rpc.path}?${'q'.repeat(8_000)}` }),
    one(rpc, 'requires a known path of any length', UNIMPLEMENTED, {
      path: `${rpc.path}/${'p'.repeat(8_000)}`,
    }),
    one(rpc, 'requires its path in its own case', UNIMPLEMENTED, { path: rpc.path.toLowerCase() }),
    one(rpc, 'requires its path without a slash behind it', UNIMPLEMENTED, { path: `${rpc.path}/` }),
    one(rpc, 'does not know encodings in capitals', UNIMPLEMENTED, headers({ 'grpc-encoding': 'IDENTITY' })),
    one(
      rpc,
      'does not know two encodings',
      UNIMPLEMENTED,
      headers({ 'grpc-encoding': ['identity', 'identity'] }),
    ),
    one(rpc, 'does not know an empty encoding', UNIMPLEMENTED, headers({ 'grpc-encoding': '' })),
    one(rpc, 'ignores the encoding of HTTP', OK, headers({ 'content-encoding': 'gzip' })),
    one(rpc, 'refuses two deadlines', INVALID, headers({ 'grpc-timeout': ['300S', '300S'] })),
    one(rpc, 'takes a deadline with zeros before it', OK, headers({ 'grpc-timeout': '00000300S' })),
    one(rpc, 'has no time left after a nanosecond', EXPIRED, {
      ...headers({ 'grpc-timeout': '1n' }),
      actions: [],
    }),
    one(rpc, 'ignores deadlines of Connect', OK, headers({ 'connect-timeout-ms': '1' })),
    one(rpc, 'ignores the version of Connect', OK, headers({ 'connect-protocol-version': '7' })),
    one(rpc, 'does not mind metadata that is no base64', OK, headers({ 'some-bin': '*** no base64 ***' })),
    one(rpc, 'does not mind two request ids', OK, headers({ 'x-request-id': ['one', 'two'] })),
    one(rpc, 'does not mind a cookie beside the key', OK, headers({ cookie: 'session=x' })),
    one(rpc, 'does not mind a host beside the authority', OK, headers({ host: 'elsewhere' })),
    one(rpc, 'does not mind a priority', OK, headers({ priority: 'u=0, i' })),
    one(rpc, 'takes the scheme it receives', OK, headers({ ':scheme': 'https' })),
    one(rpc, 'takes the length of the body', OK, headers({ 'content-length': String(good.length) })),
    one(
      rpc,
      'refuses a length that is too small',
      'reset',
      headers({ 'content-length': String(good.length - 1) }),
    ),
    one(
      rpc,
      'refuses a length that is too large',
      'reset',
      headers({ 'content-length': String(good.length + 1) }),
    ),
    one(rpc, 'sends 100 Continue to a client that waits for it', OK, headers({ expect: '100-continue' })),
    one(rpc, 'takes many headers', OK, pairs(100)),
    one(rpc, 'refuses too many headers', 'reset', pairs(200)),
    one(rpc, 'refuses a compressed message with other flags', INVALID, {
      actions: [framed(rpc.message(GOOD), 0x83), 'end'],
    }),
    one(rpc, 'does not mind empty frames', OK, {
      actions: [
        Buffer.alloc(0),
        good.subarray(0, 3),
        Buffer.alloc(0),
        good.subarray(3),
        Buffer.alloc(0),
        'end',
      ],
    }),
    one(rpc, 'does not mind a status of the client behind the body', OK, {
      requestTrailers: { 'grpc-status': '7', 'x-api-key': 'other' },
    }),
    one(rpc, 'answers a client that takes a byte at a time', OK, { settings: { initialWindowSize: 1 } }),
    one(rpc, 'answers a client that takes nothing at first', OK, {
      settings: { initialWindowSize: 0 },
      actions: [good, 'end', 'headers', { settings: { initialWindowSize: 65_535 } }],
    }),
    one(rpc, 'survives a client that takes nothing and goes', 'reset', {
      settings: { initialWindowSize: 0 },
      actions: [good, 'headers', { resetWith: CANCEL }],
    }),
  ];
}

/** A message of exactly the largest size. */
function largest(rpc: Rpc): Uint8Array {
  const padded = (length: number) => rpc.message(request('x'.repeat(length)));
  const spare = MAX_BYTES - padded(100_000).length;
  return padded(100_000 + spare);
}

const UNARY = [EVALUATE, BATCH].flatMap((rpc) => {
  const good = framed(rpc.message(GOOD));
  return [
    one(rpc, 'requires a message', UNIMPLEMENTED, { actions: ['end'] }),
    one(rpc, 'requires one message only', UNIMPLEMENTED, { actions: [Buffer.concat([good, good]), 'end'] }),
    one(rpc, 'requires that nothing follows its message', INVALID, {
      actions: [Buffer.concat([good, Buffer.alloc(3)]), 'end'],
    }),
    one(rpc, 'answers before the body ends when there are two', UNIMPLEMENTED, { actions: [good, good] }),
    one(rpc, 'requires its body in time', EXPIRED, { actions: [good] }),
  ];
});

const stepJson = (bytes: Buffer): EvaluateInit => ({ stepForm: { case: 'stepJson', value: bytes } });

const BAD_FIELDS: readonly (readonly [string, EvaluateInit])[] = [
  ['a step that is no JSON', stepJson(Buffer.from('{'))],
  ['a step that is no text', stepJson(Buffer.from([0xff, 0xfe, 0xfd]))],
  ['a step that is too deep', stepJson(Buffer.from('['.repeat(300)))],
  ['an unknown stage', { stage: 9 as Stage }],
  ['an unknown detail', { detail: 9 as Detail }],
  ['a bad agent name', { agentName: 'ß' }],
  ['a step without input', { stepForm: { case: 'step', value: { type: 'llm', name: 'n' } } }],
];

const EVALUATIONS = [
  one(
    EVALUATE,
    'does not find an agent',
    { grpc: 5 },
    { actions: [framed(EVALUATE.message(UNKNOWN_AGENT)), 'end'] },
  ),
  one(EVALUATE, 'names every missing member', INVALID, { actions: [framed(Buffer.alloc(0)), 'end'] }),
  ...BAD_FIELDS.map(([what, more]) =>
    one(EVALUATE, `refuses ${what}`, INVALID, {
      actions: [framed(EVALUATE.message({ ...request('hello'), ...more })), 'end'],
    }),
  ),
  one(EVALUATE, 'takes a step of the message form', OK, {
    actions: [
      framed(
        EVALUATE.message({
          ...request('hello'),
          detail: Detail.FULL,
          stepForm: {
            case: 'step',
            value: { type: 'llm', name: 'n', input: { kind: { case: 'stringValue', value: 'bad' } } },
          },
        }),
      ),
      'end',
    ],
  }),
  one(EVALUATE, 'returns everything', OK, {
    actions: [framed(EVALUATE.message({ ...BAD, detail: Detail.FULL })), 'end'],
  }),
  one(BATCH, 'gives each evaluation its own status', OK, {
    actions: [framed(BATCH.message(GOOD, UNKNOWN_AGENT, {}, BAD, { ...BAD, agentName: OTHER_AGENT })), 'end'],
  }),
  one(BATCH, 'requires an evaluation', INVALID, { actions: [framed(Buffer.alloc(0)), 'end'] }),
  one(BATCH, 'refuses too many', INVALID, {
    actions: [framed(BATCH.message(...Array<EvaluateInit>(1_001).fill({}))), 'end'],
  }),
  one(BATCH, 'answers as many as there may be', OK, {
    actions: [framed(BATCH.message(...Array<EvaluateInit>(1_000).fill(GOOD))), 'end'],
  }),
];

const named = (id: string, ...evaluations: EvaluateInit[]) =>
  framed(toBinary(EvaluateStreamRequestSchema, create(EvaluateStreamRequestSchema, { id, evaluations })));

const STREAMS = [
  one(STREAM, 'takes no message at all', OK, { actions: ['end'] }),
  one(STREAM, 'requires a large message in time', EXPIRED, {
    actions: [named('a', GOOD), 'reply', framed(largest(STREAM)).subarray(0, -1)],
  }),
  one(STREAM, 'gives a small message all the time it needs', EXPIRED, {
    deadlineMs: TIMEOUT_SECONDS * 1_500,
    actions: [named('a', GOOD), 'reply', named('b', GOOD).subarray(0, -1)],
  }),
  one(STREAM, 'answers before the body ends', OK, {
    actions: [named('a', GOOD), 'reply', named('b', BAD), 'reply', named('c', UNKNOWN_AGENT), 'reply', 'end'],
  }),
  one(STREAM, 'answers many messages in order', OK, {
    actions: [
      Buffer.concat(Array.from({ length: 300 }, (_, at) => named(`id-${at}`, at % 3 ? GOOD : BAD))),
      'end',
    ],
  }),
  one(STREAM, 'answers mixed agents', OK, {
    actions: [named('m', GOOD, { ...BAD, agentName: OTHER_AGENT }, {}, UNKNOWN_AGENT), 'end'],
  }),
  one(STREAM, 'gives an empty message a status of its own', OK, {
    actions: [named('none'), named('some', GOOD), 'end'],
  }),
  one(STREAM, 'gives a message with a long id a status of its own', OK, {
    actions: [named('i'.repeat(129), GOOD), 'end'],
  }),
  one(STREAM, 'gives a message with too many evaluations a status of its own', OK, {
    actions: [named('many', ...Array<EvaluateInit>(1_001).fill({})), 'end'],
  }),
  one(STREAM, 'answers before it breaks off', INVALID, {
    actions: [named('a', GOOD), 'reply', framed(Buffer.from([0xff]))],
  }),
  one(STREAM, 'answers before it refuses compression', INVALID, {
    actions: [named('a', GOOD), 'reply', framed(Buffer.alloc(0), 1)],
  }),
  one(STREAM, 'answers before it refuses a large message', EXHAUSTED, {
    actions: [named('a', GOOD), 'reply', Buffer.from([0, 1, 0, 0, 0])],
  }),
  one(STREAM, 'answers before its body breaks off', INVALID, {
    actions: [named('a', GOOD), 'reply', Buffer.from([0, 0]), 'end'],
  }),
];

/** Every case; the same for a service with the lane and one without. */
export const CASES: readonly Case[] = [
  ...RPCS.flatMap(common),
  ...RPCS.flatMap(odd),
  ...UNARY,
  ...EVALUATIONS,
  ...STREAMS,
];
