import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateRequestSchema,
  EvaluateStreamRequestSchema,
  EvaluationService,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { createKeysFile, type KeyEntry } from './keys-file.js';
import { startService } from './service.js';

const fixture = (name: string) =>
  path.resolve(import.meta.dirname, '../fixtures/tls', `test-only-${name}.pem`);
/** The certificates in turn have the same name, so that a client cannot tell which of them it has to expect. */
const TLS = { rejectUnauthorized: false };
const AGENT = 'rotated-agent-1';
const STEP = { type: 'llm', name: 'answer', input: 'word' };
const ROUND_MS = 1_000;
/** How many rounds a key is in the file: clients use the newest one, so the old ones are withdrawn unused. */
const KEPT_ROUNDS = 3;

/** What happened while keys and certificates were rotated. */
export interface Rotation {
  readonly rounds: number;
  /** Calls that succeeded with valid keys, by protocol. */
  readonly succeeded: Record<string, number>;
  /** What else became of calls with valid keys; empty if nothing did. */
  readonly failed: string[];
  /** For each withdrawn key: milliseconds until it was refused over REST, and until its stream had ended. */
  readonly refusedAfterMs: number[];
  readonly endedAfterMs: number[];
  /** How streams of withdrawn keys ended. */
  readonly ends: ReadonlySet<string>;
  /** Certificates that new handshakes got. */
  readonly certificates: ReadonlySet<string>;
  /** Files that were read again, and refused, by the log. */
  readonly refusals: string[];
}

const keyOf = (round: number): KeyEntry => ({ name: 'client', key: `rotated-key-${round}`, role: 'admin' });

/** Replaces keys and certificate every second for a number of seconds, while clients of every protocol call. */
export async function rotate(rounds: number): Promise<Rotation> {
  const folder = mkdtempSync(path.join(tmpdir(), 'rotation-'));
  const inFolder = (name: string) => path.join(folder, name);
  const useCertificate = (round: number): void => {
    const name = round % 2 === 0 ? 'server' : 'other';
    copyFileSync(fixture(`${name}-cert`), inFolder('cert.pem'));
    copyFileSync(fixture(`${name}-key`), inFolder('key.pem'));
  };
  useCertificate(0);
  const keys = createKeysFile([keyOf(0), keyOf(1)]);
  const service = await startService({
    ...keys.environment,
    SERVICE_TLS_CERT_FILE: inFolder('cert.pem'),
    SERVICE_TLS_KEY_FILE: inFolder('key.pem'),
    SERVICE_LOG_LEVEL: 'error',
  });
  const found: Rotation = {
    rounds,
    succeeded: {},
    failed: [],
    refusedAfterMs: [],
    endedAfterMs: [],
    ends: new Set(),
    certificates: new Set(),
    refusals: service.logLines,
  };
  let round = 0;
  let isOver = false;
  const newest = () => ({ 'x-api-key': keyOf(round).key ?? '' });

  /** Sends a request on a connection of its own; returns its status. */
  const rest = (method: string, at: string, body: object, headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const options = { ...TLS, method, agent: false as const };
      const all = { 'content-type': 'application/json', ...headers };
      const request = https.request(`${service.url}${at}`, { ...options, headers: all }, (response) => {
        const { socket } = response as unknown as { socket: import('node:tls').TLSSocket };
        (found.certificates as Set<string>).add(socket.getPeerX509Certificate()?.fingerprint256 ?? '');
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      request.on('error', reject);
      request.end(JSON.stringify(body));
    });
  const body = { agent_name: AGENT, stage: 'pre', step: STEP };
  const restEvaluation = (headers: Record<string, string>) =>
    rest('POST', '/api/v1/evaluation', body, headers);
  await rest('POST', '/api/v1/agents/initAgent', { agent: { agent_name: AGENT } }, newest());

  const options = { baseUrl: service.url, nodeOptions: TLS };
  const transports: Record<string, Transport> = {
    gRPC: createGrpcTransport(options),
    'gRPC-Web': createGrpcWebTransport({ ...options, httpVersion: '1.1' }),
    Connect: createConnectTransport({ ...options, httpVersion: '2' }),
  };
  const evaluation = create(EvaluateRequestSchema, {
    agentName: AGENT,
    stage: Stage.PRE,
    stepForm: { case: 'stepJson', value: Buffer.from(JSON.stringify(STEP)) },
  });

  async function client(
    name: string,
    call: (headers: Record<string, string>) => Promise<unknown>,
  ): Promise<void> {
    found.succeeded[name] = 0;
    while (!isOver) {
      try {
        await call(newest());
        found.succeeded[name] += 1;
      } catch (error) {
        found.failed.push(`${name}: ${String(error)}`);
      }
    }
  }

  /** A stream with one key: a message now and then until it ends. Returns when it has. */
  async function stream(
    transport: Transport,
    headers: Record<string, string>,
    until: () => boolean,
  ): Promise<string> {
    async function* messages() {
      let id = 0;
      do {
        yield create(EvaluateStreamRequestSchema, { id: String(id), evaluations: [evaluation] });
        id += 1;
        await pause(20);
      } while (!until());
    }
    let answers = 0;
    try {
      for await (const { results } of createClient(EvaluationService, transport).evaluateStream(messages(), {
        headers,
      }))
        answers += results.filter(({ outcome }) => outcome.case === 'verdict').length;
    } catch (error) {
      return Code[ConnectError.from(error).code];
    }
    return answers > 0 ? 'ok' : 'empty';
  }

  /** Withdraws a key that has a stream, and measures until both are refused. */
  async function withdraw(
    entries: readonly KeyEntry[],
    headers: Record<string, string>,
    ended: Promise<string>,
  ) {
    const startedAt = performance.now();
    keys.set(entries);
    const end = ended.then((code) => {
      (found.ends as Set<string>).add(code);
      found.endedAfterMs.push(performance.now() - startedAt);
    });
    while ((await restEvaluation(headers)) !== 401) await pause(10);
    found.refusedAfterMs.push(performance.now() - startedAt);
    await end;
  }

  const clients = [
    client('REST', async (headers) => {
      const status = await restEvaluation(headers);
      if (status !== 200) throw new Error(`status ${status}`);
    }),
    ...Object.entries(transports).map(([name, transport]) =>
      client(name, (headers) => createClient(EvaluationService, transport).evaluate(evaluation, { headers })),
    ),
    ...['gRPC', 'Connect'].map((name) =>
      client(`${name} stream`, async (headers) => {
        const endsAt = performance.now() + ROUND_MS / 2;
        const end = await stream(transports[name] as Transport, headers, () => performance.now() > endsAt);
        if (end !== 'ok') throw new Error(end);
      }),
    ),
  ];
  const withdrawals: Promise<void>[] = [];
  const deadline = () => isOver;
  try {
    for (let next = 1; next <= rounds; next += 1) {
      const nextRound = pause(ROUND_MS);
      // A key is in the file before clients use it, and for a while after that.
      round = next;
      useCertificate(next);
      const victim: KeyEntry = { name: 'victim', key: `victim-key-${next}`, role: 'regular' };
      const valid = Array.from({ length: KEPT_ROUNDS + 1 }, (_, back) => keyOf(Math.max(0, next + 1 - back)));
      const unique = [...new Map(valid.map((entry) => [entry.key, entry])).values()];
      keys.set([...unique, victim]);
      const headers = { 'x-api-key': victim.key ?? '' };
      while ((await restEvaluation(headers)) !== 200) await pause(10);
      const protocol = next % 2 === 0 ? 'gRPC' : 'Connect';
      const ended = stream(transports[protocol] as Transport, headers, deadline);
      withdrawals.push(withdraw(unique, headers, ended));
      await Promise.all([withdrawals.at(-1), nextRound]);
    }
  } finally {
    isOver = true;
    await Promise.all([...clients, ...withdrawals]);
    await service.stop();
    keys.remove();
    rmSync(folder, { recursive: true, force: true });
  }
  return found;
}
