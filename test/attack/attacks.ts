import { create, toBinary } from '@bufbuild/protobuf';
import { EvaluateRequestSchema } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { framed } from '../serve/lane/exchange.js';

/** An agent with controls, and the keys that the service under attack is started with. */
export const AGENT = 'attacked-agent-1';
/** An agent with controls that are watched and listed. */
export const WATCHED = 'watched-agent-1';
export const KEYS = { victim: 'victim-key', attacker: 'attacker-key', admin: 'admin-key' } as const;

const EVALUATE = '/enforcement.v1.EvaluationService/Evaluate';
const WATCH = '/grpc.health.v1.Health/Watch';
const WATCH_CONTROLS = '/enforcement.v1.AgentService/WatchControls';
const LIST_CONTROLS = '/enforcement.v1.AgentService/ListAgentControls';
const REFLECTION = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
const WITH_KEY = { 'x-api-key': KEYS.attacker };

/** A load as `attacker.mjs` takes it. */
export interface Attack {
  readonly name: string;
  readonly kind: 'hold' | 'reset' | 'pipeline' | 'rate' | 'calls' | 'flood' | 'reopen';
  readonly options: Readonly<Record<string, unknown>>;
  /** Whether it comes with a key: then the other key must be served, though the attacker has its share. */
  readonly hasKey: boolean;
  /** Changes of a control of the watched agent during each of its rounds; 0 by default. */
  readonly changes?: number;
  /** How often it is run, one after the other; once by default. */
  readonly rounds?: number;
  /** What `verify:long -- attack` demands of it. */
  readonly goals?: AttackGoals;
}

export interface AttackGoals {
  /** The 99th percentile of the calls of another key during the attack, as a multiple of the one before it. */
  readonly mostRatio: number;
  /** The resident memory without garbage ten seconds after it above that before it, in MiB. */
  readonly mostMibKept: number;
}

const WATCHING_GOALS: AttackGoals = { mostRatio: 10, mostMibKept: 64 };

const step = { type: 'llm', name: 'answer', input: 'a harmless sentence '.repeat(25) };

function evaluateMessage(stepJson: string): Buffer {
  const message = create(EvaluateRequestSchema, {
    agentName: AGENT,
    stage: 1,
    stepForm: { case: 'stepJson', value: Buffer.from(stepJson) },
  });
  return framed(toBinary(EvaluateRequestSchema, message));
}

/** The evaluation that the victim asks for. */
export const EVALUATION = evaluateMessage(JSON.stringify(step)).toString('base64');

/** Requests of WatchControls and ListAgentControls begin with the name of the agent. */
const WATCHED_AGENT = framed(
  Buffer.concat([Buffer.from([0x0a, WATCHED.length]), Buffer.from(WATCHED)]),
).toString('base64');

const INVALID = evaluateMessage('{"type": "llm", "name": ').toString('base64');
const EMPTY = framed(Buffer.alloc(0)).toString('base64');
/** `file_containing_symbol` of ServerReflectionRequest. */
const SYMBOL = Buffer.from('enforcement.v1.EvaluationService');
const REFLECT = framed(Buffer.concat([Buffer.from([0x22, SYMBOL.length]), SYMBOL])).toString('base64');

function http1(method: string, path: string, headers: Record<string, string> = {}, body = ''): string {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const length = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}${length}\r\n${body}`;
}

const restEvaluation = JSON.stringify({ agent_name: AGENT, stage: 'pre', step });

/** Every load that the service has to stand. */
export const ATTACKS: readonly Attack[] = [
  {
    name: 'public streams held',
    kind: 'hold',
    options: { connections: 200, streams: 250, path: WATCH, body: EMPTY },
    hasKey: false,
  },
  {
    name: 'reset storm of public streams',
    kind: 'reset',
    options: { connections: 8, streams: 900, path: WATCH, body: EMPTY },
    hasKey: false,
  },
  {
    name: 'reset storm of evaluations without a key',
    kind: 'reset',
    options: { connections: 8, streams: 900, path: EVALUATE, body: EVALUATION },
    hasKey: false,
  },
  {
    name: 'pipelining storm of health',
    kind: 'pipeline',
    options: { connections: 16, depth: 200, text: http1('GET', '/health') },
    hasKey: false,
  },
  {
    name: 'pipelining storm of evaluations without a key',
    kind: 'pipeline',
    options: { connections: 16, depth: 200, text: http1('POST', '/api/v1/evaluation', {}, '{}') },
    hasKey: false,
  },
  {
    name: 'metrics storm',
    kind: 'rate',
    options: { connections: 50, perSecond: 1_000, text: http1('GET', '/metrics') },
    hasKey: false,
  },
  {
    name: 'reflection storm',
    kind: 'calls',
    options: { connections: 20, perSecond: 300, path: REFLECTION, body: REFLECT },
    hasKey: false,
  },
  {
    name: 'invalid evaluations with a key',
    kind: 'flood',
    options: { connections: 4, streams: 64, path: EVALUATE, body: INVALID, headers: WITH_KEY },
    hasKey: true,
  },
  {
    name: 'flood with a key over gRPC',
    kind: 'flood',
    options: { connections: 8, streams: 64, path: EVALUATE, body: EVALUATION, headers: WITH_KEY },
    hasKey: true,
  },
  {
    name: 'flood with a key over REST',
    kind: 'pipeline',
    options: {
      connections: 16,
      depth: 20,
      text: http1('POST', '/api/v1/evaluation', WITH_KEY, restEvaluation),
    },
    hasKey: true,
  },
  {
    name: 'watchers that reopen',
    kind: 'reopen',
    options: { connections: 4, streams: 16, path: WATCH_CONTROLS, body: WATCHED_AGENT, headers: WITH_KEY },
    hasKey: true,
    goals: WATCHING_GOALS,
  },
  {
    name: 'lists of controls that are not read to the end',
    kind: 'reopen',
    options: { connections: 4, streams: 16, path: LIST_CONTROLS, body: WATCHED_AGENT, headers: WITH_KEY },
    hasKey: true,
    goals: WATCHING_GOALS,
  },
  {
    name: 'watchers that do not read',
    kind: 'hold',
    options: {
      connections: 4,
      streams: 200,
      window: 0,
      path: WATCH_CONTROLS,
      body: WATCHED_AGENT,
      headers: WITH_KEY,
    },
    hasKey: true,
    changes: 12,
    rounds: 3,
    goals: WATCHING_GOALS,
  },
];
