import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateRequestSchema,
  EvaluateResponseSchema,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { restClient } from '../support/http.js';
import { SERVICES } from '../support/protocol-clients.js';
import { denyWord, seeder } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';
import { until } from '../support/until.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const CONFIG_FILE = path.join(ROOT, 'gen/grpc/service_config.json');
const CONFIG = readFileSync(CONFIG_FILE, 'utf8');
/** The system's own Python comes second: `python3` may be another one. */
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (one) => spawnSync(one, ['-c', 'import grpc, google.protobuf']).status === 0,
);
const AGENT = 'billing-bot-01';
const EVALUATE = '/enforcement.v1.EvaluationService/Evaluate';

let revision = 0;
const directory = mkdtempSync(path.join(tmpdir(), 'service-config-'));
const service = suiteService({ SERVICE_MIN_REVISION_WAIT_SECONDS: '0.1' });
beforeAll(async () => {
  await seeder(restClient(service.url)).agent(AGENT);
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
});

/** Makes a change, and returns its revision. */
async function change(): Promise<number> {
  const call = restClient(service.url);
  const name = `control-${revision}`;
  const { headers } = await call('PUT', '/api/v1/controls', { name, data: denyWord('never-said') });
  revision = Number(headers.get('x-service-revision'));
  return revision;
}

const refusals = () => service.logLines.filter((line) => line.includes('an RPC could not be served')).length;

describe('the service config for gRPC clients', () => {
  const { methodConfig } = JSON.parse(CONFIG) as {
    methodConfig: { name: { service: string; method: string }[]; retryPolicy?: object; timeout: string }[];
  };
  const retried = methodConfig
    .filter(({ retryPolicy }) => retryPolicy !== undefined)
    .flatMap(({ name }) => name);
  const all = methodConfig.flatMap(({ name }) => name).map(({ service: one, method }) => `${one}/${method}`);

  it('names every unary RPC once, and no stream', () => {
    const unary = SERVICES.flatMap(({ typeName, methods }) =>
      methods.filter(({ methodKind }) => methodKind === 'unary').map(({ name }) => `${typeName}/${name}`),
    );
    expect(all.toSorted()).toEqual(expect.arrayContaining(unary.toSorted()));
    expect(new Set(all).size).toBe(all.length);
    expect(all.join()).not.toMatch(/Stream|Watch|Export|Ingest/);
  });

  it('retries no RPC whose repetition would make a change twice', () => {
    const names = retried.map(({ method }) => method);
    expect(names).toEqual(
      expect.arrayContaining(['Evaluate', 'EvaluateBatch', 'ListControls', 'AddAgentControl']),
    );
    for (const name of [
      'CreateControl',
      'CreatePolicy',
      'RestoreControlVersion',
      'SetControlData',
      'CreateEvents',
    ])
      expect(names).not.toContain(name);
  });

  it('makes grpc-js repeat a call that was answered with UNAVAILABLE', async () => {
    const next = (await change()) + 1;
    const before = refusals();
    const client = new Client(new URL(service.url).host, credentials.createInsecure(), {
      'grpc.service_config': CONFIG,
    });
    const stepForm = {
      case: 'stepJson' as const,
      value: Buffer.from('{"type":"tool","name":"n","input":{}}'),
    };
    const message = { agentName: AGENT, stage: Stage.PRE, minRevision: BigInt(next), stepForm };
    const request = toBinary(EvaluateRequestSchema, create(EvaluateRequestSchema, message));
    onTestFinished(() => client.close());
    const reply = new Promise<Buffer>((resolve, reject) =>
      client.makeUnaryRequest(
        EVALUATE,
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
        Buffer.from(request),
        new Metadata(),
        (error, value) => (error === null && value !== undefined ? resolve(value) : reject(error)),
      ),
    );
    await until(refusals, (count) => count > before);
    await change();
    const verdict = fromBinary(EvaluateResponseSchema, await reply);
    expect(verdict.isSafe).toBe(true);
    expect(verdict.revision).toBeGreaterThanOrEqual(BigInt(next));
  });
});

describe('the quick start for Python', () => {
  const title =
    PYTHON === undefined
      ? 'is not run, because Python has no gRPC here (Debian: apt-get install python3-grpcio python3-protobuf)'
      : 'evaluates a step, with the service config, as printed in docs/languages.md';
  it.runIf(PYTHON !== undefined)(title, async () => {
    const page = readFileSync(path.join(ROOT, 'docs/languages.md'), 'utf8');
    const [, program = ''] = /```python\n([\s\S]*?)```/.exec(page) ?? [];
    const script = path.join(directory, 'quick_start.py');
    writeFileSync(script, program);
    const descriptors = path.join(directory, 'api.binpb');
    spawnSync(path.join(ROOT, 'node_modules/.bin/buf'), ['build', '-o', descriptors], { cwd: ROOT });
    const run = async () => {
      const address = `${service.host}:${service.port}`;
      const child = spawn(PYTHON ?? '', [script, address, descriptors, CONFIG_FILE]);
      const [output, errors, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'exit'),
      ]);
      return { output: output.trim(), errors, code };
    };
    expect(await run()).toEqual({ output: 'safe', errors: '', code: 0 });
    const seed = seeder(restClient(service.url));
    await seed.link(AGENT, await seed.control('no-hello', denyWord('hello')));
    await until(run, ({ output }) => output.startsWith('unsafe'));
  });
});
