import { AGENT, MAX_BODY_BYTES } from './rest-cases.js';

/** Bytes on an HTTP/1.1 connection that no client library would send. */
export interface RawCase {
  readonly name: string;
  readonly bytes: Buffer;
  /** Sent once the first answer has begun to arrive. */
  readonly afterAnswer?: Buffer;
  /** Whether the client says that nothing will follow. */
  readonly thenEnd?: boolean;
  /** The statuses of all responses before the server closes the connection. None: it closes without a word. */
  readonly statuses: readonly number[];
}

const BODY = `{"agent_name":"${AGENT}","stage":"pre","step":{"type":"llm","name":"x","input":"y"}}`;
/** What an attacker hopes to have taken for a second request. */
const SMUGGLED = 'GET /api/v1/agents HTTP/1.1\r\nHost: inside\r\n\r\n';

function post(headers: readonly string[], body: string): Buffer {
  const head = [
    'POST /api/v1/evaluation HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    ...headers,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1');
}

function get(target: string, ...headers: string[]): Buffer {
  return Buffer.from(
    `GET ${target} HTTP/1.1\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`,
    'latin1',
  );
}

const HOST = 'Host: localhost';
const CHUNKED = 'Transfer-Encoding: chunked';
const LENGTH = `Content-Length: ${BODY.length}`;
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const ONE_CHUNK = `${chunk(BODY)}0\r\n\r\n`;

/** Every connection that must be refused. */
export const RAW_CASES: readonly RawCase[] = [
  {
    name: 'content-length and transfer-encoding',
    bytes: post(['Content-Length: 4', CHUNKED], `0\r\n\r\n${SMUGGLED}`),
    statuses: [400],
  },
  {
    name: 'transfer-encoding and content-length',
    bytes: post([CHUNKED, LENGTH], ONE_CHUNK + SMUGGLED),
    statuses: [400],
  },
  {
    name: 'two different content-lengths',
    bytes: post([LENGTH, 'Content-Length: 1'], BODY),
    statuses: [400],
  },
  {
    name: 'two content-lengths in one line',
    bytes: post([`${LENGTH}, ${BODY.length}`], BODY),
    statuses: [400],
  },
  { name: 'a negative content-length', bytes: post(['Content-Length: -1'], BODY), statuses: [400] },
  {
    name: 'a content-length with a sign',
    bytes: post([`Content-Length: +${BODY.length}`], BODY),
    statuses: [400],
  },
  { name: 'a content-length in hexadecimal', bytes: post(['Content-Length: 0x10'], BODY), statuses: [400] },
  {
    name: 'a content-length beyond 64 bits',
    bytes: post(['Content-Length: 18446744073709551617'], BODY),
    statuses: [400],
  },
  {
    name: 'a content-length over the limit',
    bytes: post([`Content-Length: ${MAX_BODY_BYTES + 1}`, 'Connection: close'], ''),
    statuses: [413],
  },
  {
    name: 'a content-length shorter than the body',
    bytes: post(['Content-Length: 2'], '{}'),
    afterAnswer: Buffer.from(BODY),
    statuses: [422, 400],
  },
  {
    // The answer to the first request must not be taken for that to the second one, nor the other way round.
    name: 'nonsense behind a request that is not answered yet',
    bytes: post([LENGTH], `${BODY}nonsense\r\n\r\n`),
    statuses: [],
  },
  {
    name: 'a content-length longer than the body',
    bytes: post([`Content-Length: ${BODY.length + 10}`], BODY),
    thenEnd: true,
    statuses: [400],
  },
  { name: 'chunks that end early', bytes: post([CHUNKED], chunk(BODY)), thenEnd: true, statuses: [400] },
  { name: 'a chunk without a size', bytes: post([CHUNKED], `\r\n${BODY}\r\n0\r\n\r\n`), statuses: [400] },
  {
    name: 'a chunk size that is no number',
    bytes: post([CHUNKED], `xyz\r\n${BODY}\r\n0\r\n\r\n`),
    statuses: [400],
  },
  { name: 'a negative chunk size', bytes: post([CHUNKED], `-1\r\n${BODY}\r\n0\r\n\r\n`), statuses: [400] },
  {
    name: 'a chunk size beyond 64 bits',
    bytes: post([CHUNKED], `${'f'.repeat(17)}\r\n${BODY}`),
    statuses: [400],
  },
  {
    name: 'a chunk longer than its size',
    bytes: post([CHUNKED], `2\r\n${BODY}\r\n0\r\n\r\n`),
    statuses: [400],
  },
  {
    name: 'chunks behind another encoding',
    bytes: post(['Transfer-Encoding: gzip, identity'], ONE_CHUNK),
    statuses: [400],
  },
  {
    name: 'an encoding behind chunks',
    bytes: post(['Transfer-Encoding: chunked, gzip'], ONE_CHUNK),
    statuses: [400],
  },
  {
    name: 'a misspelt transfer-encoding',
    bytes: post(['Transfer-Encoding: xchunked'], ONE_CHUNK),
    statuses: [400],
  },
  {
    name: 'a blank before the colon',
    bytes: post([`Content-Length : ${BODY.length}`], BODY),
    statuses: [400],
  },
  { name: 'a folded header', bytes: post(['X-Long: one', ' two', LENGTH], BODY), statuses: [400] },
  { name: 'a header without a colon', bytes: post(['nonsense', LENGTH], BODY), statuses: [400] },
  { name: 'NUL in a header', bytes: post(['X-Text: a\0b', LENGTH], BODY), statuses: [400] },
  {
    name: 'lines that end in a line feed alone',
    bytes: Buffer.from(`GET /api/v1/agents HTTP/1.1\nHost: localhost\n\n`),
    statuses: [400],
  },
  { name: 'no host', bytes: get('/api/v1/agents'), statuses: [400] },
  { name: 'a blank in the path', bytes: get('/api/v1/agents and more', HOST), statuses: [400] },
  { name: 'NUL in the path', bytes: get('/api/v1/agents\0', HOST), statuses: [400] },
  {
    name: 'raw bytes in the path',
    bytes: get('/api/v1/agents/\xff\xfe\xfd', HOST, 'Connection: close'),
    statuses: [400],
  },
  {
    name: 'an unknown method',
    bytes: Buffer.from(`BREW /api/v1/agents HTTP/1.1\r\n${HOST}\r\n\r\n`),
    statuses: [400],
  },
  {
    name: 'a method in small letters',
    bytes: Buffer.from(`get /api/v1/agents HTTP/1.1\r\n${HOST}\r\n\r\n`),
    statuses: [400],
  },
  {
    name: 'an HTTP version that does not exist',
    bytes: Buffer.from(`GET /api/v1/agents HTTP/9.9\r\n${HOST}\r\n\r\n`),
    statuses: [400],
  },
  {
    name: 'a header block over the limit',
    bytes: get('/api/v1/agents', HOST, `X-Long: ${'x'.repeat(20_000)}`),
    statuses: [431],
  },
  {
    name: 'a path over the limit',
    bytes: get(`/api/v1/agents/${'a'.repeat(20_000)}`, HOST),
    statuses: [431],
  },
  {
    name: 'too many headers',
    bytes: get('/api/v1/agents', HOST, ...Array.from({ length: 200 }, (_, index) => `X-${index}: 1`)),
    statuses: [431],
  },
  { name: 'a tunnel', bytes: Buffer.from(`CONNECT inside:80 HTTP/1.1\r\n${HOST}\r\n\r\n`), statuses: [] },
  {
    name: 'no HTTP at all',
    bytes: Buffer.from([0x04, 0x01, 0x00, 0x50, 0x7f, 0x00, 0x00, 0x01]),
    thenEnd: true,
    statuses: [400],
  },
  {
    name: 'TLS, which is answered with an alert',
    bytes: Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01]),
    thenEnd: true,
    statuses: [],
  },
];
