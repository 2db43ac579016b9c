import { GetAgentRequestSchema } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { envelope } from '../support/bad-input-rpc.js';
import { INVALID_UTF8, nestedLists, nestedObjects } from '../support/bad-input-values.js';
import { AGENT, MAX_BODY_BYTES } from './rest-cases.js';
import { message } from './rpc-messages.js';

/** A call that is wrong below its message: envelope, headers, path or the JSON form of a message. */
export interface TransportCase {
  readonly name: string;
  readonly protocol: 'gRPC' | 'gRPC-Web' | 'Connect';
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body: Buffer | (() => Buffer);
  /** Name of the gRPC code, or `HTTP` and a status where the reply is not of the protocol. */
  readonly code: string;
}

const GET_AGENT = '/enforcement.v1.AgentService/GetAgent';
const GET_CONTROL = '/enforcement.v1.ControlService/GetControl';
const CREATE_CONTROL = '/enforcement.v1.ControlService/CreateControl';
const EVALUATE = '/enforcement.v1.EvaluationService/Evaluate';
const MESSAGE = message(GetAgentRequestSchema, { agentName: AGENT });
const GOOD = envelope(MESSAGE);

type Envelope = readonly [name: string, body: Buffer | (() => Buffer), code: string];

/** The same over gRPC and gRPC-Web. */
const ENVELOPES: readonly Envelope[] = [
  ['no envelope', Buffer.alloc(0), 'UNIMPLEMENTED'],
  ['half the head of an envelope', GOOD.subarray(0, 3), 'INVALID_ARGUMENT'],
  ['an envelope that is cut off', GOOD.subarray(0, -4), 'INVALID_ARGUMENT'],
  ['a length beyond the message', envelope(MESSAGE, { length: MESSAGE.length + 7 }), 'INVALID_ARGUMENT'],
  ['a length short of the message', envelope(MESSAGE, { length: MESSAGE.length - 3 }), 'INVALID_ARGUMENT'],
  ['the largest length', envelope(MESSAGE, { length: 0xffffffff }), 'RESOURCE_EXHAUSTED'],
  ['a length over the limit', envelope(MESSAGE, { length: MAX_BODY_BYTES + 1 }), 'RESOURCE_EXHAUSTED'],
  ['a message over the limit', () => envelope(Buffer.alloc(MAX_BODY_BYTES + 1)), 'RESOURCE_EXHAUSTED'],
  ['two messages', Buffer.concat([GOOD, GOOD]), 'UNIMPLEMENTED'],
  ['bytes behind the envelope', Buffer.concat([GOOD, Buffer.from([0])]), 'INVALID_ARGUMENT'],
  ['a compressed message without an encoding', envelope(MESSAGE, { flags: 1 }), 'INVALID_ARGUMENT'],
  ['a message without an envelope', MESSAGE, 'RESOURCE_EXHAUSTED'],
];

/** Headers that are refused over gRPC and gRPC-Web. */
const HEADERS: readonly (readonly [header: string, value: string, code: string])[] = [
  ['grpc-encoding', 'gzip', 'UNIMPLEMENTED'],
  ['grpc-encoding', 'rot13', 'UNIMPLEMENTED'],
  ['grpc-encoding', '__proto__', 'UNIMPLEMENTED'],
  ['grpc-timeout', 'soon', 'INVALID_ARGUMENT'],
  ['grpc-timeout', '5', 'INVALID_ARGUMENT'],
  ['grpc-timeout', '5X', 'INVALID_ARGUMENT'],
  ['grpc-timeout', '-5S', 'INVALID_ARGUMENT'],
  ['grpc-timeout', '1.5S', 'INVALID_ARGUMENT'],
  ['grpc-timeout', '123456789S', 'INVALID_ARGUMENT'],
];

const ENVELOPED: TransportCase[] = (['gRPC', 'gRPC-Web'] as const).flatMap((protocol) => [
  ...ENVELOPES.map(([name, body, code]) => ({ name, protocol, path: GET_AGENT, body, code })),
  ...HEADERS.map(([header, value, code]) => ({
    name: `${header}: ${value}`,
    protocol,
    path: GET_AGENT,
    headers: { [header]: value },
    body: GOOD,
    code,
  })),
  {
    name: 'a service that does not exist',
    protocol,
    path: '/enforcement.v1.NoService/GetAgent',
    body: GOOD,
    code: 'UNIMPLEMENTED',
  },
  {
    name: 'a method that does not exist',
    protocol,
    path: '/enforcement.v1.AgentService/EraseAgent',
    body: GOOD,
    code: 'UNIMPLEMENTED',
  },
  {
    name: 'a method called like a built-in member',
    protocol,
    path: '/enforcement.v1.AgentService/constructor',
    body: GOOD,
    code: 'UNIMPLEMENTED',
  },
  {
    name: 'a path in small letters',
    protocol,
    path: GET_AGENT.toLowerCase(),
    body: GOOD,
    code: 'UNIMPLEMENTED',
  },
  {
    name: 'a path that cannot be decoded',
    protocol,
    path: '/enforcement.v1.AgentService/%ZZ',
    body: GOOD,
    code: 'HTTP 404',
  },
  { name: 'a PUT', protocol, method: 'PUT', path: GET_AGENT, body: GOOD, code: 'HTTP 405' },
]);

const contentTypes: TransportCase[] = [
  'application/grpc+xml',
  'application/grpcs',
  'application/xml',
  'text/plain',
  ';;;',
  '',
].map((contentType) => ({
  name: `content type ${contentType || 'empty'}`,
  protocol: 'gRPC',
  path: GET_AGENT,
  headers: { 'content-type': contentType },
  body: GOOD,
  code: 'HTTP 415',
}));

const GRPC: TransportCase[] = [
  ...contentTypes,
  {
    name: 'GET of an RPC with side effects',
    protocol: 'gRPC',
    method: 'GET',
    path: CREATE_CONTROL,
    body: Buffer.alloc(0),
    code: 'HTTP 405',
  },
  {
    name: 'metadata of 40,000 bytes',
    protocol: 'gRPC',
    path: GET_AGENT,
    headers: { 'x-large': 'x'.repeat(40_000) },
    body: GOOD,
    code: 'RESET 11',
  },
  {
    name: '200 entries of metadata',
    protocol: 'gRPC',
    path: GET_AGENT,
    headers: Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`x-${index}`, '1'])),
    body: GOOD,
    code: 'RESET 11',
  },
  {
    name: 'a JSON message with another type',
    protocol: 'gRPC',
    path: GET_AGENT,
    headers: { 'content-type': 'application/grpc+json' },
    body: envelope(Buffer.from('{"agentName":5}')),
    code: 'INVALID_ARGUMENT',
  },
];

const GRPC_WEB: TransportCase[] = [
  {
    name: 'text that is no base64',
    protocol: 'gRPC-Web',
    path: GET_AGENT,
    headers: { 'content-type': 'application/grpc-web-text' },
    body: Buffer.from('!!!'),
    code: 'INVALID_ARGUMENT',
  },
  {
    name: 'GET of an RPC with side effects',
    protocol: 'gRPC-Web',
    method: 'GET',
    path: CREATE_CONTROL,
    body: Buffer.alloc(0),
    code: 'HTTP 405',
  },
];

type JsonRow = readonly [name: string, path: string, json: string | Buffer | (() => string), code?: string];

const evaluateJson = (members: string): string => `{"agentName":"${AGENT}","stage":"STAGE_PRE",${members}}`;
const stepJson = (input: string): string =>
  evaluateJson(`"step":{"type":"llm","name":"answer","input":${input}}`);

/** Messages in JSON over Connect; all are the caller's mistakes. */
const JSON_MESSAGES: readonly JsonRow[] = [
  ['no body', GET_AGENT, ''],
  ['no JSON', GET_AGENT, '{'],
  ['null', GET_AGENT, 'null'],
  ['a list', GET_AGENT, '[]'],
  ['a text', GET_AGENT, '"text"'],
  [
    'invalid UTF-8',
    GET_AGENT,
    Buffer.concat([Buffer.from('{"agentName":"'), INVALID_UTF8, Buffer.from('"}')]),
  ],
  ['a name that is a number', GET_AGENT, '{"agentName":1234567890}'],
  ['a name that is an object', GET_AGENT, '{"agentName":{}}'],
  ['a name below __proto__', GET_AGENT, `{"__proto__":{"agentName":"${AGENT}"}}`],
  ['a name in two forms', GET_AGENT, `{"agentName":"${AGENT}","agent_name":"short"}`],
  ['a name with half a surrogate pair', GET_AGENT, `{"agentName":"${AGENT}\\ud800"}`],
  [
    'a name over the limit',
    GET_AGENT,
    () => `{"agentName":"${'a'.repeat(MAX_BODY_BYTES)}"}`,
    'RESOURCE_EXHAUSTED',
  ],
  ['an id beyond 32 bits', GET_CONTROL, '{"controlId":2147483648}'],
  ['an id that is a fraction', GET_CONTROL, '{"controlId":1.5}'],
  ['an id that is a word', GET_CONTROL, '{"controlId":"one"}'],
  ['an id that is NaN', GET_CONTROL, '{"controlId":NaN}'],
  ['a negative id', GET_CONTROL, '{"controlId":-1}', 'NOT_FOUND'],
  ['an enum name that does not exist', EVALUATE, `{"agentName":"${AGENT}","stage":"STAGE_DURING"}`],
  ['an enum name of REST', EVALUATE, `{"agentName":"${AGENT}","stage":"pre"}`],
  ['an enum number that does not exist', EVALUATE, `{"agentName":"${AGENT}","stage":9,"stepJson":"e30="}`],
  [
    'an enum number beyond 32 bits',
    EVALUATE,
    `{"agentName":"${AGENT}","stage":4294967297,"stepJson":"e30="}`,
  ],
  [
    'two forms of a step',
    EVALUATE,
    evaluateJson('"step":{"type":"a","name":"b","input":1},"stepJson":"e30="'),
  ],
  ['a step that is no base64', EVALUATE, evaluateJson('"stepJson":"!!!"')],
  ['a step that is no JSON', EVALUATE, evaluateJson('"stepJson":"ew=="')],
  ['an input of NaN', EVALUATE, stepJson('NaN')],
  ['an input over the range of numbers', EVALUATE, stepJson('1e999')],
  ['lists 250 deep', EVALUATE, stepJson(nestedLists(250))],
  ['objects 250 deep below __proto__', EVALUATE, stepJson(nestedObjects(250, '__proto__'))],
  ['lists 10,000 deep', EVALUATE, stepJson(nestedLists(10_000))],
  ['lists 1,000,000 deep', EVALUATE, () => stepJson(nestedLists(1_000_000))],
  [
    'a condition 100,000 deep',
    CREATE_CONTROL,
    () => `{"name":"refused-control","data":{"condition":${nestedObjects(100_000, 'not', '{}')}}}`,
  ],
  ['a condition that is a list', CREATE_CONTROL, '{"name":"refused-control","data":{"condition":[]}}'],
  [
    'a configuration that is a list',
    CREATE_CONTROL,
    '{"name":"refused-control","data":{"condition":{"evaluator":{"name":"regex","config":[]}}}}',
  ],
];

type ConnectRow = readonly [name: string, headers: Record<string, string>, code: string];

const CONNECT_HEADERS: readonly ConnectRow[] = [
  ['gzip', { 'content-encoding': 'gzip' }, 'UNIMPLEMENTED'],
  ['an unknown encoding', { 'content-encoding': 'rot13' }, 'UNIMPLEMENTED'],
  ['a time limit that is a word', { 'connect-timeout-ms': 'soon' }, 'INVALID_ARGUMENT'],
  ['a negative time limit', { 'connect-timeout-ms': '-1' }, 'INVALID_ARGUMENT'],
  ['a time limit of eleven digits', { 'connect-timeout-ms': '12345678901' }, 'INVALID_ARGUMENT'],
  ['content type application/xml', { 'content-type': 'application/xml' }, 'HTTP 415'],
  ['content type application/protobuf', { 'content-type': 'application/protobuf' }, 'HTTP 415'],
  ['the content type of a stream', { 'content-type': 'application/connect+proto' }, 'HTTP 415'],
];

const CONNECT: TransportCase[] = [
  ...JSON_MESSAGES.map(([name, path, json, code = 'INVALID_ARGUMENT']) => ({
    name: `${name} in JSON`,
    protocol: 'Connect' as const,
    path,
    headers: { 'content-type': 'application/json' },
    body: typeof json === 'function' ? () => Buffer.from(json()) : Buffer.from(json as string),
    code,
  })),
  ...CONNECT_HEADERS.map(([name, headers, code]) => ({
    name,
    protocol: 'Connect' as const,
    path: GET_AGENT,
    headers,
    body: MESSAGE,
    code,
  })),
  {
    name: 'GET of an RPC with side effects',
    protocol: 'Connect',
    method: 'GET',
    path: `${CREATE_CONTROL}?encoding=json&message={}`,
    body: Buffer.alloc(0),
    code: 'HTTP 405',
  },
  {
    name: 'a method that does not exist',
    protocol: 'Connect',
    path: '/enforcement.v1.AgentService/EraseAgent',
    body: MESSAGE,
    code: 'UNIMPLEMENTED',
  },
];

/** Every call that must be refused whatever its message says. */
export const TRANSPORT_CASES: readonly TransportCase[] = [...ENVELOPED, ...GRPC, ...GRPC_WEB, ...CONNECT];
