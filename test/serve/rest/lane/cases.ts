import { gzipSync } from 'node:zlib';
import type { Sent } from './raw-exchange.js';

export const AGENT = 'conforming-agent';
export const OTHER_AGENT = 'unconforming-agent';
export const KEY = 'a-key';
export const ADMIN_KEY = 'admin-key';
export const MAX_BYTES = 65_536;

const PATH = '/api/v1/evaluation';
const BATCH = '/api/v1/evaluation/batch';

export interface Case {
  readonly what: string;
  readonly sent: Sent;
  /** Statuses of the replies, in their order. */
  readonly statuses: readonly number[];
}

interface Request {
  readonly method?: string;
  readonly target?: string;
  readonly version?: string;
  /** Lines in their order; null leaves a usual one out. */
  readonly headers?: readonly string[];
  readonly without?: readonly string[];
  readonly body?: string | Buffer;
}

/** The bytes of a request; without other words a POST with a key and the media type and length of its body. */
function bytesOf(request: Request): Buffer {
  const { method = 'POST', target = PATH, version = '1.1', headers = [], without = [], body = '' } = request;
  const bytes = Buffer.from(body);
  const usual = [
    'Host: example.org',
    `X-API-Key: ${KEY}`,
    'Content-Type: application/json',
    `Content-Length: ${bytes.length}`,
  ].filter((line) => !without.some((name) => line.toLowerCase().startsWith(`${name}:`)));
  const head = [`${method} ${target} HTTP/${version}`, ...usual, ...headers, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes]);
}

/** Asked last on a connection: what comes before must have left it in order, and it closes it. */
const LAST = bytesOf({
  method: 'GET',
  target: '/health',
  headers: ['Connection: close'],
  without: ['content-length'],
});

const one = (what: string, status: number, request: Request): Case => ({
  what,
  sent: [bytesOf(request), LAST],
  statuses: [status, 200],
});
/** The connection is over after it. */
const only = (what: string, status: number, request: Request): Case => ({
  what,
  sent: [bytesOf(request)],
  statuses: [status],
});

const step = { type: 'llm', name: 'answer', input: 'good' };
const asking = (more: object = {}) => ({ agent_name: AGENT, stage: 'pre', step, ...more });
const json = (value: unknown) => JSON.stringify(value);
const GOOD = json(asking());
const BAD = json(asking({ step: { ...step, input: 'bad "quotes" \u00e9\u{1f600}' } }));
const good = (what: string, status: number, request: Request) =>
  one(what, status, { body: GOOD, ...request });

const padded = (length: number) => {
  const short = json(asking({ step: { ...step, input: '' } }));
  return json(asking({ step: { ...step, input: 'x'.repeat(length - short.length) } }));
};

const VERDICTS: Case[] = [
  one('a step that is allowed', 200, { body: GOOD }),
  one('a step that is denied', 200, { body: BAD }),
  one('an agent without controls', 200, { body: json(asking({ agent_name: OTHER_AGENT })) }),
  one('an agent name in another case', 200, {
    body: json(asking({ agent_name: ` ${AGENT.toUpperCase()} ` })),
  }),
  one('a tool step after it ran', 200, {
    body: json(
      asking({ stage: 'post', step: { type: 'tool', name: 't', input: {}, output: [1], context: { a: 1 } } }),
    ),
  }),
  one('unknown members', 200, { body: json(asking({ unknown: 1 })) }),
  one('a target', 200, { body: json(asking({ target_type: 'env', target_id: 'prod' })) }),
  one('half a target', 422, { body: json(asking({ target_id: 'prod' })) }),
  one('a batch with a target', 200, {
    target: BATCH,
    body: json({ evaluations: [asking(), asking({ target_type: 'env', target_id: 'prod' })] }),
  }),
  one('a minimum revision', 200, { body: json(asking({ min_revision: 1 })) }),
  one('large numbers and words that are no JSON', 200, {
    body: GOOD.replace('"good"', '[12345678901234567890, 0.12345678901234567890, NaN, -Infinity, 0.1e-5]'),
  }),
  one('a number beyond the range', 422, { body: GOOD.replace('"good"', '[1e400]') }),
  one('duplicate keys and __proto__', 422, {
    body: GOOD.replace('"good"', '{"a":1,"a":2,"__proto__":{"x":1}}'),
  }),
  one('__proto__ as an ordinary key', 200, { body: GOOD.replace('"good"', '{"a":1,"__proto__":{"x":1}}') }),
  one('NUL and a lone surrogate', 200, { body: GOOD.replace('good', '\\u0000\\ud800') }),
  one('UTF-16', 200, { body: Buffer.from(GOOD, 'utf16le') }),
  one('a byte order mark', 200, { body: `\ufeff${GOOD}` }),
  one('blanks around the value', 200, { body: ` \r\n\t${GOOD}\n ` }),
  one('a body of the largest size', 200, { body: padded(MAX_BYTES) }),
];

const BODIES: Case[] = [
  one('an unknown agent', 404, { body: json(asking({ agent_name: 'nobody-knows-it' })) }),
  one('no members', 422, { body: '{}' }),
  one('members of wrong types', 422, {
    body: json({
      agent_name: 7,
      stage: 'between',
      step: { type: '', name: 3, input: 1, context: [] },
      min_revision: -1,
    }),
  }),
  one('a tool step whose input is no object', 422, {
    body: json(asking({ step: { type: 'tool', name: 't', input: 'x' } })),
  }),
  one('a revision that is no number', 422, { body: json(asking({ min_revision: 'x' })) }),
  one('a revision that does not exist', 503, { body: json(asking({ min_revision: 1_000_000 })) }),
  one('null', 422, { body: 'null' }),
  one('a list', 422, { body: '[]' }),
  one('a text', 422, { body: '"text"' }),
  one('a number', 422, { body: '17' }),
  one('blanks only', 422, { body: '  ' }),
  one('broken JSON', 422, { body: '{"agent_name": "\u00e9' }),
  one('text behind the value', 422, { body: `${GOOD}x` }),
  one('deep JSON', 422, { body: `${'['.repeat(300)}${']'.repeat(300)}` }),
  one('hopelessly deep JSON', 400, { body: '['.repeat(20_000) }),
  one('an integer of very many digits', 400, { body: `{"a":${'1'.repeat(5_000)}}` }),
  one('bytes that are no text', 400, { body: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]) }),
  one('no body', 422, {}),
  one('neither body nor length', 422, { without: ['content-length'] }),
  only('a body that is too large', 413, { body: padded(MAX_BYTES + 1) }),
  {
    what: 'a body in many pieces',
    sent: [...pieces(bytesOf({ body: BAD }), 40), LAST],
    statuses: [200, 200],
  },
  {
    what: 'a chunked body',
    sent: [
      bytesOf({ without: ['content-length'], headers: ['Transfer-Encoding: chunked'] }),
      `${GOOD.length.toString(16)}\r\n${GOOD}\r\n0\r\n\r\n`,
      LAST,
    ],
    statuses: [200, 200],
  },
];

const HEADERS: Case[] = [
  good('a request id', 200, { headers: ['X-Request-Id: my.id-1'] }),
  good('a request id that is none', 200, { headers: ['X-Request-Id: my id'] }),
  good('a trace', 200, { headers: ['traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'] }),
  good('a minimum revision in a header', 200, { headers: ['X-Service-Min-Revision: 1'] }),
  good('a minimum revision in a header that does not exist', 503, {
    headers: ['X-Service-Min-Revision: 1000000'],
  }),
  good('a minimum revision in a header that is none', 422, { headers: ['X-Service-Min-Revision: 1.5'] }),
  good('a repeated minimum revision', 422, {
    headers: ['X-Service-Min-Revision: 1', 'X-Service-Min-Revision: 1'],
  }),
  good('no key', 401, { without: ['x-api-key'] }),
  good('no key and broken JSON', 401, { without: ['x-api-key'], body: '{' }),
  good('no key and a body that is never read', 401, { without: ['x-api-key'], body: padded(MAX_BYTES) }),
  good('an empty key', 401, { without: ['x-api-key'], headers: ['X-API-Key:'] }),
  good('an unknown key', 401, { without: ['x-api-key'], headers: ['X-API-Key: unknown'] }),
  good('an admin key', 200, { without: ['x-api-key'], headers: [`X-API-Key: ${ADMIN_KEY}`] }),
  good('two keys', 200, { headers: ['X-API-Key: unknown'] }),
  good('two keys, the first of them unknown', 401, {
    without: ['x-api-key'],
    headers: ['X-API-Key: unknown', `X-API-Key: ${KEY}`],
  }),
  good('a session that is none', 401, { without: ['x-api-key'], headers: ['Cookie: service_session=x'] }),
  good('a session beside a key', 200, { headers: ['Cookie: service_session=x'] }),
  good('an origin', 200, { headers: ['Origin: http://page.example'] }),
  good('an origin without a key', 401, { without: ['x-api-key'], headers: ['Origin: http://page.example'] }),
  good('a listed origin', 200, { headers: ['Origin: http://listed.example'] }),
  good('no media type', 422, { without: ['content-type'] }),
  ...[
    ['application/json; charset=utf-8', 200],
    ['application/json;charset=UTF-8', 200],
    ['application/json; charset=latin1', 200],
    ['APPLICATION/JSON', 200],
    ['application/vnd.x+json', 200],
    ['application/jsonx', 422],
    ['text/plain', 422],
    ['no media type', 422],
    ['', 422],
  ].map(([type, status]) =>
    good(`the media type "${type}"`, status as number, {
      without: ['content-type'],
      headers: [`Content-Type: ${type}`],
    }),
  ),
  good('identity encoding', 200, { headers: ['Content-Encoding: identity'] }),
  good('a compressed body', 400, { headers: ['Content-Encoding: gzip'], body: gzipSync(GOOD) }),
  good('an expectation that is unknown', 417, { headers: ['Expect: something'] }),
  good('an offer to upgrade', 200, { headers: ['Upgrade: h2c'] }),
  good('a wish for another media type', 200, { headers: ['Accept: text/html'] }),
  only('an end of the connection', 200, { body: GOOD, headers: ['Connection: close'] }),
  only('an end of the connection and an error', 401, {
    body: GOOD,
    without: ['x-api-key'],
    headers: ['Connection: close'],
  }),
  only('HTTP/1.0', 200, { body: GOOD, version: '1.0' }),
  only('no host', 400, { body: GOOD, without: ['host'] }),
  only('two lengths', 400, { body: GOOD, headers: ['Content-Length: 3'] }),
  only('a length and chunks', 400, { body: GOOD, headers: ['Transfer-Encoding: chunked'] }),
  only('more headers than are taken', 431, {
    body: GOOD,
    headers: Array.from({ length: 300 }, (_, index) => `X-Header-${index}: 1`),
  }),
];

const TARGETS: Case[] = [
  good('a query', 200, { target: `${PATH}?a=1` }),
  good('an empty query', 200, { target: `${PATH}?` }),
  good('a slash too many', 307, { target: `${PATH}/` }),
  good('two slashes', 404, { target: `/${PATH}` }),
  good('an escaped path', 200, { target: PATH.replace('v1', '%761') }),
  good('a path in capitals', 404, { target: PATH.toUpperCase() }),
  good('another path', 404, { target: `${PATH}s` }),
  good('a whole address', 200, { target: `http://example.org${PATH}` }),
  one('GET', 405, { method: 'GET', without: ['content-length', 'content-type'] }),
  one('PUT', 405, { method: 'PUT', body: GOOD }),
  one('OPTIONS', 405, { method: 'OPTIONS', without: ['content-length', 'content-type'] }),
];

const batch = (what: string, status: number, evaluations: unknown) =>
  one(what, status, { target: BATCH, body: json({ evaluations }) });
const BATCHES: Case[] = [
  batch('a batch of one', 200, [asking()]),
  batch('a batch with errors', 200, [
    asking(),
    {},
    asking({ agent_name: 'nobody-knows-it' }),
    JSON.parse(BAD),
    7,
  ]),
  batch('a batch of more than one slice', 200, Array(150).fill(JSON.parse(BAD))),
  batch('a batch of errors alone', 200, [{}]),
  batch('an empty batch', 422, []),
  batch('a batch that is no list', 422, 'x'),
  one('a batch without evaluations', 422, { target: BATCH, body: '{}' }),
  one('a batch without a key', 401, { target: BATCH, body: '{}', without: ['x-api-key'] }),
];

const SEQUENCES: Case[] = [
  {
    what: 'requests that do not wait for replies',
    sent: [Buffer.concat([bytesOf({ body: GOOD }), bytesOf({ body: '{}' }), bytesOf({ body: BAD }), LAST])],
    statuses: [200, 422, 200, 200],
  },
  {
    what: 'a reply that has to wait before one that does not',
    sent: [
      bytesOf({ body: json(asking({ min_revision: 1_000_000 })) }),
      bytesOf({ body: GOOD, without: ['x-api-key'] }),
      bytesOf({ target: `${PATH}?`, body: GOOD }),
      LAST,
    ],
    statuses: [503, 401, 200, 200],
  },
];

export const CASES: readonly Case[] = [
  ...VERDICTS,
  ...BODIES,
  ...HEADERS,
  ...TARGETS,
  ...BATCHES,
  ...SEQUENCES,
];

function pieces(bytes: Buffer, size: number): Buffer[] {
  const cut: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) cut.push(bytes.subarray(at, at + size));
  return cut;
}
