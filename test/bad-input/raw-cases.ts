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

/** What is sent, and the statuses of all responses: 400 alone unless stated. */
type Row = readonly [
  name: string,
  bytes: Buffer,
  statuses?: readonly number[],
  more?: Pick<RawCase, 'afterAnswer' | 'thenEnd'>,
];

const ROWS: readonly Row[] = [
  ['content-length and transfer-encoding', post(['Content-Length: 4', CHUNKED], `0\r\n\r\n${SMUGGLED}`)],
  ['transfer-encoding and content-length', post([CHUNKED, LENGTH], ONE_CHUNK + SMUGGLED)],
  ['two different content-lengths', post([LENGTH, 'Content-Length: 1'], BODY)],
  ['two content-lengths in one line', post([`${LENGTH}, ${BODY.length}`], BODY)],
  ['a negative content-length', post(['Content-Length: -1'], BODY)],
  ['a content-length with a sign', post([`Content-Length: +${BODY.length}`], BODY)],
  ['a content-length in hexadecimal', post(['Content-Length: 0x10'], BODY)],
  ['a content-length beyond 64 bits', post(['Content-Length: 18446744073709551617'], BODY)],
  [
    'a content-length over the limit',
    post([`Content-Length: ${MAX_BODY_BYTES + 1}`, 'Connection: close'], ''),
    [413],
  ],
  [
    'a content-length shorter than the body',
    post(['Content-Length: 2'], '{}'),
    [422, 400],
    { afterAnswer: Buffer.from(BODY) },
  ],
  // The answer to the first request must not be taken for that to the second one, nor the other way round.
  ['nonsense behind a request that is not answered yet', post([LENGTH], `${BODY}nonsense\r\n\r\n`), []],
  [
    'a content-length longer than the body',
    post([`Content-Length: ${BODY.length + 10}`], BODY),
    [400],
    { thenEnd: true },
  ],
  ['chunks that end early', post([CHUNKED], chunk(BODY)), [400], { thenEnd: true }],
  ['a chunk without a size', post([CHUNKED], `\r\n${BODY}\r\n0\r\n\r\n`)],
  ['a chunk size that is no number', post([CHUNKED], `xyz\r\n${BODY}\r\n0\r\n\r\n`)],
  ['a negative chunk size', post([CHUNKED], `-1\r\n${BODY}\r\n0\r\n\r\n`)],
  ['a chunk size beyond 64 bits', post([CHUNKED], `${'f'.repeat(17)}\r\n${BODY}`)],
  ['a chunk longer than its size', post([CHUNKED], `2\r\n${BODY}\r\n0\r\n\r\n`)],
  ['chunks behind another encoding', post(['Transfer-Encoding: gzip, identity'], ONE_CHUNK)],
  ['an encoding behind chunks', post(['Transfer-Encoding: chunked, gzip'], ONE_CHUNK)],
  ['a misspelt transfer-encoding', post(['Transfer-Encoding: xchunked'], ONE_CHUNK)],
  ['a blank before the colon', post([`Content-Length : ${BODY.length}`], BODY)],
  ['a folded header', post(['X-Long: one', ' two', LENGTH], BODY)],
  ['a header without a colon', post(['nonsense', LENGTH], BODY)],
  ['NUL in a header', post(['X-Text: a\0b', LENGTH], BODY)],
  ['lines that end in a line feed alone', Buffer.from(`GET /api/v1/agents HTTP/1.1\nHost: localhost\n\n`)],
  ['no host', get('/api/v1/agents')],
  ['a blank in the path', get('/api/v1/agents and more', HOST)],
  ['NUL in the path', get('/api/v1/agents\0', HOST)],
  ['raw bytes in the path', get('/api/v1/agents/\xff\xfe\xfd', HOST, 'Connection: close')],
  ['an unknown method', Buffer.from(`BREW /api/v1/agents HTTP/1.1\r\n${HOST}\r\n\r\n`)],
  ['a method in small letters', Buffer.from(`get /api/v1/agents HTTP/1.1\r\n${HOST}\r\n\r\n`)],
  ['an HTTP version that does not exist', Buffer.from(`GET /api/v1/agents HTTP/9.9\r\n${HOST}\r\n\r\n`)],
  ['a header block over the limit', get('/api/v1/agents', HOST, `X-Long: ${'x'.repeat(20_000)}`), [431]],
  ['a path over the limit', get(`/api/v1/agents/${'a'.repeat(20_000)}`, HOST), [431]],
  [
    'too many headers',
    get('/api/v1/agents', HOST, ...Array.from({ length: 200 }, (_, index) => `X-${index}: 1`)),
    [431],
  ],
  ['a tunnel', Buffer.from(`CONNECT inside:80 HTTP/1.1\r\n${HOST}\r\n\r\n`), []],
  ['no HTTP at all', Buffer.from([0x04, 0x01, 0x00, 0x50, 0x7f, 0x00, 0x00, 0x01]), [400], { thenEnd: true }],
  [
    'TLS, which is answered with an alert',
    Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01]),
    [],
    { thenEnd: true },
  ],
];

/** Every connection that must be refused. */
export const RAW_CASES: readonly RawCase[] = ROWS.map(([name, bytes, statuses = [400], more = {}]) => ({
  name,
  bytes,
  ...more,
  statuses,
}));
