/**
 * The main job, end to end: starts the service on a free port with a fresh database, registers an agent, creates and
 * links three controls, and asks for verdicts over REST, gRPC (with a client that knows nothing of Connect), gRPC-Web
 * and Connect. Ends with 0 only when every verdict is right.
 */
import { join } from 'node:path';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';
import { EvaluationService } from '../dist/gen/proto/enforcement/v1/evaluation_service_pb.js';
import { startServiceProcess } from './start-service.mjs';

const AGENT = 'billing-bot-01';
const CONTROLS = [
  {
    name: 'no-card-numbers',
    data: {
      description: 'card numbers never leave through a tool',
      execution: 'server',
      scope: { step_types: ['tool'], stages: ['pre'] },
      condition: {
        selector: { path: 'input' },
        evaluator: { name: 'regex', config: { pattern: '\\b\\d{16}\\b' } },
      },
      action: { decision: 'deny' },
    },
  },
  {
    name: 'large-refunds',
    data: {
      description: 'a human looks at large refunds',
      execution: 'server',
      scope: { step_names: ['refund'] },
      condition: {
        selector: { path: 'input.size' },
        evaluator: { name: 'list', config: { values: ['large', 'huge'] } },
      },
      action: {
        decision: 'steer',
        steering_context: { message: 'Ask a human first.', required_actions: ['request_approval'] },
      },
    },
  },
  {
    name: 'watch-refunds',
    data: {
      execution: 'server',
      scope: { step_name_regex: '^refund' },
      condition: {
        selector: { path: 'name' },
        evaluator: { name: 'list', config: { values: ['refund'] } },
      },
      action: { decision: 'observe' },
    },
  },
];
const CASES = [
  {
    expected: 'denied',
    step: { type: 'tool', name: 'send_mail', input: { text: 'card 4111111111111111' } },
  },
  { expected: 'safe', step: { type: 'tool', name: 'send_mail', input: { text: 'hello' } } },
  { expected: 'steered', step: { type: 'tool', name: 'refund', input: { size: 'large' } } },
  { expected: 'observed', step: { type: 'tool', name: 'refund', input: { size: 'small' } } },
];

/** What a verdict says in one word, whatever protocol it came over. */
function wordFor(isSafe, actions) {
  if (actions.includes('deny')) return isSafe ? 'wrong' : 'denied';
  if (actions.includes('steer')) return isSafe ? 'wrong' : 'steered';
  if (!isSafe) return 'wrong';
  return actions.includes('observe') ? 'observed' : 'safe';
}

async function rest(url, method, path, body) {
  const response = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function prepare(url) {
  const agent = { agent_name: AGENT, agent_description: 'answers billing questions' };
  await rest(url, 'POST', '/api/v1/agents/initAgent', {
    agent,
    steps: [{ type: 'tool', name: 'refund' }],
  });
  for (const control of CONTROLS) {
    const { control_id } = await rest(url, 'PUT', '/api/v1/controls', control);
    await rest(url, 'POST', `/api/v1/agents/${AGENT}/controls/${control_id}`);
  }
}

function grpcClient(url) {
  const root = join(import.meta.dirname, '..', 'proto');
  const definition = protoLoader.loadSync('enforcement/v1/evaluation_service.proto', {
    includeDirs: [root, join(root, 'third_party')],
    keepCase: true,
    enums: String,
    defaults: true,
  });
  const { EvaluationService: Client } = grpc.loadPackageDefinition(definition).enforcement.v1;
  return new Client(new URL(url).host, grpc.credentials.createInsecure());
}

const grpcRequest = (step) => ({
  agent_name: AGENT,
  stage: 'STAGE_PRE',
  step_json: Buffer.from(JSON.stringify(step)),
});
const grpcWord = (reply) =>
  wordFor(
    reply.is_safe,
    reply.matches.map((match) => match.action.replace('DECISION_', '').toLowerCase()),
  );

async function overGrpc(url) {
  const client = grpcClient(url);
  const words = [];
  for (const { step } of CASES) {
    words.push(
      await new Promise((resolve, reject) => {
        client.Evaluate(grpcRequest(step), (error, reply) =>
          error ? reject(error) : resolve(grpcWord(reply)),
        );
      }),
    );
  }
  client.close();
  return words;
}

async function overGrpcStream(url) {
  const client = grpcClient(url);
  const stream = client.EvaluateStream();
  const words = new Map();
  const done = new Promise((resolve, reject) => stream.on('end', resolve).on('error', reject));
  stream.on('data', ({ id, results }) => words.set(id, grpcWord(results[0].verdict)));
  CASES.forEach(({ step }, index) => {
    stream.write({ id: String(index), evaluations: [grpcRequest(step)] });
  });
  stream.end();
  await done;
  client.close();
  return CASES.map((_case, index) => words.get(String(index)));
}

async function overConnect(transport) {
  const client = createClient(EvaluationService, transport);
  const words = [];
  for (const { step } of CASES) {
    const reply = await client.evaluate({
      agentName: AGENT,
      stage: 1,
      stepForm: { case: 'stepJson', value: Buffer.from(JSON.stringify(step)) },
    });
    const actions = reply.matches.map((match) => ['', 'deny', 'steer', 'observe'][match.action]);
    words.push(wordFor(reply.isSafe, actions));
  }
  return words;
}

async function overRest(url) {
  const words = [];
  for (const { step } of CASES) {
    const reply = await rest(url, 'POST', '/api/v1/evaluation', { agent_name: AGENT, step, stage: 'pre' });
    words.push(
      wordFor(
        reply.is_safe,
        reply.matches.map((match) => match.action),
      ),
    );
  }
  return words;
}

const service = await startServiceProcess();
let wrong = 0;
try {
  console.log(`service at ${service.url}`);
  await prepare(service.url);
  const protocols = {
    REST: () => overRest(service.url),
    'gRPC unary': () => overGrpc(service.url),
    'gRPC stream': () => overGrpcStream(service.url),
    'gRPC-Web': () => overConnect(createGrpcWebTransport({ baseUrl: service.url, httpVersion: '1.1' })),
    Connect: () => overConnect(createConnectTransport({ baseUrl: service.url, httpVersion: '1.1' })),
  };
  for (const [protocol, run] of Object.entries(protocols)) {
    const words = await run();
    CASES.forEach(({ expected, step }, index) => {
      const right = words[index] === expected;
      if (!right) wrong += 1;
      const what = `${step.name} ${JSON.stringify(step.input)}`;
      console.log(`${right ? 'ok   ' : 'WRONG'} ${protocol.padEnd(12)} ${what.padEnd(44)} ${words[index]}`);
    });
  }
} finally {
  await service.stop();
}
console.log(wrong === 0 ? 'every verdict is right' : `${wrong} verdicts are wrong`);
process.exitCode = wrong === 0 ? 0 : 1;
