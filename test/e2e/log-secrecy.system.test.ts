import net from 'node:net';
import { createClient } from '@connectrpc/connect';
import { Metadata } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { EvaluationService } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { receivedUntilClose } from '../serve/listener/support/events.js';
import { rawGrpcCall } from '../support/grpc-js-client.js';
import { restClient } from '../support/http.js';
import { BIDI_PROTOCOLS, RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { denyWord, seeder } from '../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../support/service-process.js';

const AGENT = 'secretive-agent';
const RPC = 'enforcement.v1.EvaluationService/Evaluate';

/** Texts that must never be logged, each of its own kind so that a finding tells where it came from. */
const SECRETS = {
  adminKey: 'planted-admin-key-5e1f',
  wrongKey: 'planted-wrong-key-7a2b',
  bearer: 'planted-bearer-9c3d',
  cookie: 'planted-cookie-1d4e',
  input: 'planted-input-2f5a',
  output: 'planted-output-3b6c',
  context: 'planted-context-4d7e',
  pattern: 'planted-pattern-6f8b',
  listValue: 'planted-list-value-8d9c',
  steering: 'planted-steering-0e1a',
  schema: 'planted-schema-1c2d',
  query: 'planted-query-3e4f',
} as const;

/** A text as a log might show it: as it is, or as bytes in one of the usual forms. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // Base64 of the same bytes looks different after each number of bytes before them; the ends depend on neighbours.
  const base64 = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(4, -4),
  );
  return [secret, bytes.toString('hex'), ...base64, [...bytes].join(','), [...bytes].join(', ')];
}

async function provokeEverything(service: ServiceProcess): Promise<void> {
  const url = await service.listening();
  const { hostname: host, port } = new URL(url);
  const key = {
    'x-api-key': SECRETS.adminKey,
    cookie: SECRETS.cookie,
    authorization: `Bearer ${SECRETS.bearer}`,
  };
  const call = restClient(url, key);
  const seed = seeder(call);
  const schema = { type: 'object', title: SECRETS.schema };
  await seed.agent(AGENT, { steps: [{ type: 'tool', name: 'x', input_schema: schema }] });
  const list = { name: 'list', config: { values: [SECRETS.listValue] } };
  const definitions = [
    denyWord(SECRETS.pattern),
    denyWord('x', { condition: { selector: { path: 'output' }, evaluator: list } }),
    denyWord('x', { action: { decision: 'steer', steering_context: { message: SECRETS.steering } } }),
    denyWord('x', {
      condition: { selector: {}, evaluator: { name: 'absent', config: { a: SECRETS.pattern } } },
    }),
  ];
  for (const [index, data] of definitions.entries()) {
    await seed.link(AGENT, await seed.control(`control-${index}`, data));
  }
  const step = {
    type: 'llm',
    name: 'n',
    input: SECRETS.input,
    output: `${SECRETS.output} ${SECRETS.listValue} x`,
    context: { a: SECRETS.context },
  };
  const json = Buffer.from(JSON.stringify(step));
  const requests: [string, string, unknown, Record<string, string>?][] = [
    ['POST', '/api/v1/evaluation', { agent_name: AGENT, stage: 'pre', step }],
    ['POST', '/api/v1/evaluation', { agent_name: AGENT, stage: SECRETS.input, step: { ...step, type: 5 } }],
    ['POST', '/api/v1/evaluation', { agent_name: 'nobody-at-all', stage: 'pre', step }],
    ['POST', '/api/v1/evaluation', `{"step": "${SECRETS.input}"`],
    ['POST', '/api/v1/evaluation', SECRETS.input, { 'content-type': 'text/plain' }],
    ['POST', '/api/v1/evaluation', SECRETS.input, { 'content-encoding': 'gzip' }],
    ['POST', '/api/v1/evaluation', JSON.stringify({ step: SECRETS.input.repeat(200_000) })],
    ['POST', '/api/v1/evaluation', { step }, { 'x-api-key': SECRETS.wrongKey }],
    ['PUT', '/api/v1/controls', { name: 'control-0', data: definitions[0] }],
    ['PUT', '/api/v1/controls', { name: 'bad', data: denyWord(`(${SECRETS.pattern}`) }],
    ['PUT', '/api/v1/controls', { name: 'nul', data: denyWord(`${SECRETS.pattern}\u0000\ud800`) }],
    ['PUT', '/api/v1/controls/1/data', { data: { ...definitions[0], execution: SECRETS.pattern } }],
    ['POST', '/api/v1/controls/validate', { data: definitions[3] }],
    ['GET', `/api/v1/controls?name=${SECRETS.query}&limit=${SECRETS.query}`, undefined],
    [
      'GET',
      '/api/v1/agents',
      undefined,
      { 'x-api-key': SECRETS.wrongKey, 'x-request-id': SECRETS.wrongKey.repeat(9) },
    ],
    [
      'POST',
      '/api/v1/agents/initAgent',
      { agent: { agent_name: AGENT, agent_version: { a: SECRETS.schema } } },
    ],
  ];
  for (const request of requests) await call(...request);

  for (const protocol of RPC_PROTOCOLS) {
    const client = createClient(EvaluationService, rpcTransport(protocol, url));
    const stepForm = { case: 'stepJson' as const, value: json };
    const evaluation = { agentName: AGENT, stage: Stage.PRE, stepForm };
    await client.evaluate(evaluation, { headers: key });
    const broken = { ...evaluation, stepForm: { ...stepForm, value: json.subarray(1) } };
    await client.evaluate(broken, { headers: key }).catch(() => {});
    await client.evaluate(evaluation, { headers: { 'x-api-key': SECRETS.wrongKey } }).catch(() => {});
    if (!BIDI_PROTOCOLS.some((one) => one === protocol)) continue;
    const messages = async function* () {
      yield { id: 'a', evaluations: [evaluation, broken] };
    };
    for await (const _ of client.evaluateStream(messages(), { headers: key }));
  }
  const metadata = new Metadata();
  metadata.set('x-api-key', SECRETS.adminKey);
  await rawGrpcCall({ host, port: Number(port) }, RPC, Buffer.from(SECRETS.input), metadata);
  await rawGrpcCall({ host, port: Number(port) }, `no.Service/Nothing`, Buffer.from(SECRETS.input), metadata);

  // Bytes that are no HTTP, or too much of it, with secrets among them.
  const head = `POST /api/v1/evaluation HTTP/1.1\r\nHost: x\r\nX-API-Key: ${SECRETS.adminKey}\r\n`;
  for (const bytes of [
    `${head}Bad Header: ${SECRETS.wrongKey}\r\n\r\n`,
    `${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\n${SECRETS.input}`,
    `${head}X-Long: ${'x'.repeat(40_000)}\r\n\r\n`,
    `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n${SECRETS.input}`,
    `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${SECRETS.input}`,
    `${SECRETS.adminKey}\r\n\r\n`,
  ]) {
    const socket = net.connect(Number(port), host);
    socket.on('error', () => {});
    const received = receivedUntilClose(socket);
    socket.end(bytes);
    await received;
  }
}

describe.each([
  ['JSON lines', 'true'],
  ['readable lines', 'false'],
])('the log at level debug, as %s', (_name, json) => {
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await spawnService(compiled, {
      environment: {
        SERVICE_LOG_LEVEL: 'debug',
        SERVICE_LOG_JSON: json,
        SERVICE_MAX_BODY_BYTES: '1048576',
        SERVICE_API_KEY_ENABLED: 'true',
        SERVICE_ADMIN_API_KEYS: SECRETS.adminKey,
      },
    });
    await provokeEverything(service);
    service.process.kill('SIGTERM');
    await service.ended;
  });
  afterAll(() => service.dispose());

  it.each(Object.entries(SECRETS))('never holds the %s', (_kind, secret) => {
    const written = service.stdout() + service.stderr();
    expect(formsOf(secret).filter((form) => written.includes(form))).toEqual([]);
  });
  it('contains a line for each request, which states what happened', () => {
    expect(service.stdout().match(/"?path"?: ?"\/api\/v1\/evaluation"/g)?.length).toBeGreaterThanOrEqual(8);
    expect(service.stdout()).toContain('a connection was given up');
  });
  it('is all there is: nothing is written to stderr', () => {
    expect(service.stderr()).toBe('');
  });
});
