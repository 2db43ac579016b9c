import { gzipSync } from 'node:zlib';
import { create, type DescMessage, toBinary, toJsonString } from '@bufbuild/protobuf';
import { Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  Detail,
  EvaluateBatchRequestSchema,
  EvaluateBatchResponseSchema,
  EvaluateRequestSchema,
  EvaluateResponseSchema,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import {
  AGENT,
  request as asking,
  BAD,
  GOOD,
  type EvaluateInit as Init,
  KEY,
  MAX_BYTES,
  OTHER_AGENT,
} from './conformance-cases.js';
import { framed } from './exchange.js';
import type { Headers, WebRequest } from './web-exchange.js';

/** One case; `status` is that of HTTP for Connect and other replies, `code` that of gRPC-Web. */
export interface WebCase {
  readonly what: string;
  readonly request: WebRequest;
  readonly code: number;
}

/** A media type of requests. */
interface Media {
  readonly type: string;
  readonly isWeb: boolean;
  readonly isJson: boolean;
}

export const MEDIA: readonly Media[] = [
  { type: 'application/grpc-web', isWeb: true, isJson: false },
  { type: 'application/grpc-web+proto', isWeb: true, isJson: false },
  { type: 'application/grpc-web+json', isWeb: true, isJson: true },
  { type: 'application/proto', isWeb: false, isJson: false },
  { type: 'application/json', isWeb: false, isJson: true },
  { type: 'application/json; charset=utf-8', isWeb: false, isJson: true },
];

interface Rpc {
  readonly name: string;
  readonly output: DescMessage;
  readonly message: (evaluations: readonly Init[], isJson: boolean) => Buffer;
}

const encode = (desc: DescMessage, init: Record<string, unknown>, isJson: boolean): Buffer => {
  const message = create(desc, init);
  return Buffer.from(isJson ? toJsonString(desc, message) : toBinary(desc, message));
};

const RPCS: readonly Rpc[] = [
  {
    name: 'Evaluate',
    output: EvaluateResponseSchema,
    message: ([only = {}], isJson) => encode(EvaluateRequestSchema, { ...only }, isJson),
  },
  {
    name: 'EvaluateBatch',
    output: EvaluateBatchResponseSchema,
    message: (evaluations, isJson) => encode(EvaluateBatchRequestSchema, { evaluations }, isJson),
  },
];

interface More extends Partial<Omit<WebRequest, 'headers'>> {
  /** Undefined leaves a usual one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

const OK = 0;
const INVALID = 3;
const EXPIRED = 4;
const NOT_FOUND = 5;
const EXHAUSTED = 8;
const UNIMPLEMENTED = 12;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;
/** A reply that is neither of gRPC-Web nor of Connect. */
export const OTHER = -1;

function casesOf(media: Media, rpc: Rpc): WebCase[] {
  const path = `/enforcement.v1.EvaluationService/${rpc.name}`;
  const isBatch = rpc.name === 'EvaluateBatch';
  const message = (...evaluations: Init[]) => rpc.message(evaluations, media.isJson);
  const enveloped = (bytes: Buffer, flags = 0) => (media.isWeb ? framed(bytes, flags) : bytes);
  const good = enveloped(message(GOOD));
  const one = (what: string, code: number, more: More = {}): WebCase => {
    const headers = { 'content-type': media.type, 'x-api-key': KEY, ...more.headers };
    const given = Object.entries(headers).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return {
      what: `${rpc.name} ${media.type}: ${what}`,
      code,
      request: {
        path,
        body: [good],
        output: rpc.output,
        ...more,
        headers: Object.fromEntries(given) as Headers,
      },
    };
  };
  const with_ = (what: string, code: number, ...evaluations: Init[]) =>
    one(what, code, { body: [enveloped(message(...evaluations))] });
  const headed = (what: string, code: number, name: string, value: string | undefined) =>
    one(what, code, { headers: { [name]: value } });
  const timeout = media.isWeb ? 'grpc-timeout' : 'connect-timeout-ms';
  const ahead = asking('hello', { minRevision: 1_000_000n });
  const ofItems = isBatch ? OK : undefined;
  const cases = [
    one('a step that is allowed', OK),
    with_('a step that is denied', OK, BAD),
    with_('every detail', OK, asking('a bad word', { detail: Detail.FULL })),
    with_('an unknown detail', ofItems ?? INVALID, asking('x', { detail: 7 as Detail })),
    with_('an unknown agent', ofItems ?? NOT_FOUND, asking('x', { agentName: 'not-registered' })),
    with_('no agent', ofItems ?? INVALID, asking('x', { agentName: '' })),
    with_('no stage', ofItems ?? INVALID, asking('x', { stage: Stage.UNSPECIFIED })),
    with_('no step', ofItems ?? INVALID, { agentName: AGENT, stage: Stage.PRE }),
    with_('an agent without controls', OK, asking('x', { agentName: OTHER_AGENT })),
    with_('a target', OK, asking('x', { targetType: 'env', targetId: 'prod' })),
    with_('half a target', ofItems ?? INVALID, asking('x', { targetId: 'prod' })),
    with_('a revision that has come', OK, asking('x', { minRevision: 1n })),
    with_('a revision that does not come', ofItems ?? UNAVAILABLE, ahead),
    with_('a step that is a message', OK, {
      ...GOOD,
      stepForm: {
        case: 'step',
        value: { type: 'llm', name: 't', input: { kind: { case: 'stringValue', value: 'bad' } } },
      },
    }),
    with_('a step that is no JSON', ofItems ?? INVALID, {
      ...GOOD,
      stepForm: { case: 'stepJson', value: Buffer.from('{"type":') },
    }),
    with_('texts of other scripts', OK, asking('b\u00e9d bad \u{1f600} "quotes"')),
    with_('a session and a step id', OK, asking('x', { sessionId: 's-1', stepId: 'i-1' })),
    with_('options that are wrong', ofItems ?? INVALID, asking('x', { traceparent: 'nonsense' })),
    headed('no key', UNAUTHENTICATED, 'x-api-key', undefined),
    headed('an empty key', UNAUTHENTICATED, 'x-api-key', ''),
    headed('a wrong key', UNAUTHENTICATED, 'x-api-key', 'wrong'),
    one('a bearer key', OK, { headers: { 'x-api-key': undefined, authorization: `Bearer ${KEY}` } }),
    one('a key of another scheme', UNAUTHENTICATED, {
      headers: { 'x-api-key': undefined, authorization: 'Basic eDp5' },
    }),
    headed('an id of the request', OK, 'x-request-id', 'my-id-1'),
    headed('an id that is none', OK, 'x-request-id', 'two words'),
    headed('a long deadline', OK, timeout, media.isWeb ? '300S' : '300000'),
    headed('an endless deadline', OK, timeout, media.isWeb ? '99999999H' : '9999999999'),
    headed('a deadline that is none', INVALID, timeout, 'soon'),
    headed('a deadline in the past', EXPIRED, timeout, media.isWeb ? '0n' : '0'),
    one('a deadline before the revision comes', EXPIRED, {
      headers: { [timeout]: media.isWeb ? '20m' : '20' },
      body: [enveloped(message(ahead))],
    }),
    headed('the version of Connect', OK, 'connect-protocol-version', '1'),
    headed('another version of Connect', OK, 'connect-protocol-version', '2'),
    headed('compressed replies', OK, 'accept-encoding', 'gzip, br'),
    headed('compressed messages of replies', OK, 'grpc-accept-encoding', 'gzip'),
    headed('the identity', OK, media.isWeb ? 'grpc-encoding' : 'content-encoding', 'identity'),
    headed(
      'an unknown compression',
      UNIMPLEMENTED,
      media.isWeb ? 'grpc-encoding' : 'content-encoding',
      'x-z',
    ),
    headed('a user agent', OK, 'user-agent', 'tests/1'),
    headed(
      'the same media type in capitals',
      OK,
      'content-type',
      media.type.toUpperCase().replace('UTF-8', 'utf-8'),
    ),
    headed('a media type that is none', OTHER, 'content-type', 'text/plain'),
    headed('a forwarded address', OK, 'x-forwarded-for', '192.0.2.7'),
    one('no body', media.isWeb ? UNIMPLEMENTED : INVALID, { body: [] }),
    one('a body in many pieces', OK, { body: [...good].map((byte) => Buffer.from([byte])) }),
    one('a body without a length', OK, { isChunked: true }),
    one('bytes that are no message', INVALID, {
      body: [enveloped(Buffer.from([0xff, 0xff, 0xff]))],
    }),
    one('an unknown field', OK, {
      body: [
        enveloped(
          media.isJson
            ? Buffer.from(message(GOOD).toString().replace('{', '{"strange":1,'))
            : Buffer.concat([message(GOOD), Buffer.from([0xf8, 0x3f, 1])]),
        ),
      ],
    }),
    one('a message of the largest size', OK, { body: [enveloped(message(padded(message, MAX_BYTES)))] }),
    one('a message that is too large', EXHAUSTED, {
      body: [enveloped(message(padded(message, MAX_BYTES + 1)))],
    }),
    one('a message above the size of a small request', OK, {
      body: [enveloped(message(padded(message, 20_000)))],
    }),
    one('a large message that is read elsewhere', OK, {
      body: [enveloped(message(padded(message, 70_000)))],
    }),
    one('GET', OTHER, { method: 'GET', body: [] }),
    one('PUT', OTHER, { method: 'PUT' }),
    one('a query', OK, { path: `${path}?a=b` }),
    one('a slash behind the path', OTHER, { path: `${path}/` }),
    one('a page of a listed origin', OK, { headers: { origin: 'http://listed.example' } }),
    one('a page of another origin', OK, { headers: { origin: 'http://evil.example' } }),
    one('a page that hides its origin', OK, { headers: { origin: 'null' } }),
    one('a page of another origin without a key', UNAUTHENTICATED, {
      headers: { origin: 'http://evil.example', 'x-api-key': undefined },
    }),
    one('a page of another site', OK, { headers: { 'sec-fetch-site': 'cross-site' } }),
    one('a cookie', OK, { headers: { cookie: 'a=b' } }),
    one('a session that is none', OK, { headers: { cookie: 'service_session=x' } }),
    one('a session alone that is none', UNAUTHENTICATED, {
      headers: { cookie: 'service_session=x', 'x-api-key': undefined },
    }),
  ];
  // It takes as long as the service waits.
  if (!isBatch && (media === MEDIA[0] || media === MEDIA[4])) {
    cases.push(one('a body that never ends', EXPIRED, { body: [good.subarray(0, 7)], isOpen: true }));
  }
  if (isBatch) {
    const bad = asking('x', { agentName: 'not-registered' });
    cases.push(
      with_('evaluations of which one fails', OK, GOOD, bad, BAD),
      with_('no evaluations', INVALID),
      with_('too many evaluations', INVALID, ...Array.from({ length: 2_000 }, () => ({ agentName: 'x' }))),
      with_('many evaluations', OK, ...Array.from({ length: 80 }, () => BAD)),
    );
  }
  if (media.isWeb) {
    cases.push(
      one('two messages', UNIMPLEMENTED, { body: [good, good] }),
      one('half a message', INVALID, { body: [good.subarray(0, 9)] }),
      one('half a prefix', INVALID, { body: [good.subarray(0, 3)] }),
      one('a message marked as compressed', INVALID, { body: [enveloped(message(GOOD), 1)] }),
      one('trailers', UNIMPLEMENTED, { body: [enveloped(message(GOOD), 0x80)] }),
      one('trailers behind the message', OK, { body: [good, framed(Buffer.from('a: b\r\n'), 0x80)] }),
      one('another flag', OK, { body: [enveloped(message(GOOD), 4)] }),
    );
  } else {
    cases.push(
      one('a compressed body', UNIMPLEMENTED, {
        headers: { 'content-encoding': 'gzip' },
        body: [gzipSync(good)],
      }),
      one('a compressed body, and the identity of gRPC', UNIMPLEMENTED, {
        headers: { 'content-encoding': 'gzip', 'grpc-encoding': 'identity' },
        body: [gzipSync(good)],
      }),
      one('a timeout of gRPC', OK, { headers: { 'grpc-timeout': 'nonsense' } }),
    );
  }
  if (media.isJson) {
    const text = message(GOOD).toString();
    const json = (what: string, code: number, body: string) =>
      one(what, code, { body: [enveloped(Buffer.from(body))] });
    cases.push(
      json('JSON that ends early', INVALID, text.slice(0, -3)),
      json('a list', INVALID, `[${text}]`),
      json('a number for a text', INVALID, text.replace(/"agentName":"[^"]*"/, '"agentName":1')),
      json(
        'names as in the proto',
        OK,
        text.replaceAll('agentName', 'agent_name').replaceAll('stepJson', 'step_json'),
      ),
      json('deep nesting', INVALID, `{"step":{"input":${'['.repeat(900)}${']'.repeat(900)}}}`),
      json('a byte order mark', OK, `\ufeff${text}`),
    );
  }
  return cases;
}

/** An evaluation with which its message has this many bytes. */
function padded(message: (...evaluations: Init[]) => Buffer, length: number): Init {
  const sized = (count: number, rest: number) => asking('x'.repeat(count), { sessionId: 's'.repeat(rest) });
  // JSON has bytes in base64.
  const growth = message(GOOD).toString().startsWith('{') ? 4 / 3 : 1;
  let count = Math.floor(length / growth) - 40;
  while (message(sized(count, 1)).length > length) count -= 20;
  return sized(count, 1 + length - message(sized(count, 1)).length);
}

/** Requests that say something of a page. */
export const ofPages = ({ request: { headers } }: WebCase): boolean =>
  headers.origin !== undefined || headers.cookie !== undefined || headers['sec-fetch-site'] !== undefined;

export const WEB_CASES: readonly WebCase[] = MEDIA.flatMap((media) =>
  RPCS.flatMap((rpc) => casesOf(media, rpc)),
);
