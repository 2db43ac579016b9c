import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { denyWord } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** The system's own Python comes second: `python3` may be another one. */
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (one) => spawnSync(one, ['-c', 'import grpc, google.protobuf']).status === 0,
);

describe('the gRPC client of Python', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'python-grpc-'));
  const descriptors = path.join(directory, 'api.binpb');
  const service = suiteService();
  const { seed } = service;
  beforeAll(async () => {
    execFileSync(path.join(ROOT, 'node_modules/.bin/buf'), ['build', '-o', descriptors], { cwd: ROOT });
    await seed.linked('python-agent-1', 'no-bad-words');
    await seed.link(
      'python-agent-1',
      await seed.control('steers', {
        ...denyWord('odd'),
        action: {
          decision: 'steer',
          steering_context: { message: 'mend it', required_actions: ['a', 'b'] },
        },
      }),
    );
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true, force: true });
  });

  async function play(script: object[]): Promise<unknown> {
    const address = `${service.host}:${service.port}`;
    const client = spawn(
      PYTHON ?? '',
      [path.join(import.meta.dirname, 'python/client.py'), address, descriptors],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    client.stdin.end(JSON.stringify(script));
    const [output, [code]] = await Promise.all([text(client.stdout), once(client, 'exit')]);
    expect(code).toBe(0);
    return JSON.parse(output);
  }

  const evaluation = (input: unknown, more: object = {}) => ({
    agent_name: 'Python-Agent-1',
    stage: 'STAGE_PRE',
    step: { type: 'llm', name: 'answer', input },
    ...more,
  });
  const step = { type: 'llm', name: 'answer', input: { big: 'bad', list: [1, null] } };

  const title =
    PYTHON === undefined
      ? 'is not installed here, so nothing was tried (Debian: apt-get install python3-grpcio python3-protobuf)'
      : 'evaluates, one by one and over a stream, and receives errors for what is wrong';
  it.runIf(PYTHON !== undefined)(title, async () => {
    const evaluate = 'enforcement.v1.EvaluationService/Evaluate';
    const results = await play([
      { method: evaluate, requests: [evaluation('bad')] },
      { method: evaluate, requests: [evaluation({ all: ['good', 1.5, true, null] })] },
      {
        method: evaluate,
        requests: [
          {
            agent_name: 'python-agent-1',
            stage: 'STAGE_POST',
            step_json: Buffer.from(JSON.stringify(step)).toString('base64'),
            detail: 'DETAIL_FULL',
          },
        ],
      },
      { method: evaluate, requests: [evaluation('x', { agent_name: 'nobody-at-all' })] },
      { method: evaluate, requests: [{ agent_name: 'python-agent-1' }] },
      {
        method: 'enforcement.v1.EvaluationService/EvaluateStream',
        stream: true,
        requests: [
          { id: 'first', evaluations: [evaluation('bad'), evaluation('odd')] },
          { id: 'second', evaluations: [evaluation('x', { agent_name: 'nobody-at-all' })] },
          { id: 'third', evaluations: [evaluation('good')] },
        ],
      },
      {
        method: 'enforcement.v1.AgentService/InitAgent',
        requests: [{ agent: { agent_name: 'made-by-python', agent_metadata: { a: [1, { b: null }] } } }],
      },
      { method: 'enforcement.v1.AgentService/GetAgent', requests: [{ agent_name: 'made-by-python' }] },
    ]);
    const denied = { matches: [{ control_name: 'no-bad-words', action: 'DECISION_DENY' }] };
    expect(results).toMatchObject([
      { code: 'OK', replies: [denied] },
      { code: 'OK', replies: [{ is_safe: true, confidence: 1 }] },
      {
        code: 'OK',
        replies: [
          {
            matches: [
              { control_name: 'no-bad-words', result: { metadata: { condition_trace: { type: 'leaf' } } } },
            ],
            non_matches: [{ control_name: 'steers' }],
          },
        ],
      },
      { code: 'NOT_FOUND', details: ['google.rpc.ErrorInfo', 'google.rpc.ResourceInfo', 'google.rpc.Help'] },
      {
        code: 'INVALID_ARGUMENT',
        details: ['google.rpc.ErrorInfo', 'google.rpc.BadRequest', 'google.rpc.Help'],
      },
      {
        code: 'OK',
        replies: [
          {
            id: 'first',
            results: [
              { verdict: denied },
              {
                verdict: {
                  matches: [
                    {
                      control_name: 'steers',
                      steering_context: { message: 'mend it', required_actions: ['a', 'b'] },
                    },
                  ],
                },
              },
            ],
          },
          { id: 'second', results: [{ error: { code: 5 } }] },
          { id: 'third', results: [{ verdict: { is_safe: true } }] },
        ],
      },
      { code: 'OK', replies: [{ created: true }] },
      { code: 'OK', replies: [{ agent: { agent_metadata: { a: [1, { b: null }] } } }] },
    ]);
    // Python leaves a false out, as proto3 JSON may.
    const [first] = results as [{ replies: [object] }];
    expect(first.replies[0]).not.toHaveProperty('is_safe');
  });
});
