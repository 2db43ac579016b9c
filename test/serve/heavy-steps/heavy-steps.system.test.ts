import path from 'node:path';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { type RestClient, restClient } from '../../support/http.js';
import { BIDI_PROTOCOLS, RPC_PROTOCOLS, rpcTransport } from '../../support/rpc-transports.js';
import { denyWord, evaluate, seeder } from '../../support/seed.js';
import type { TestService } from '../../support/service.js';
import { suiteService } from '../../support/service-suite.js';
import { until } from '../../support/until.js';
import { FILLER, startedThread } from './heavy-steps.support.js';

const MORTAL = new URL('./mortal-thread.mjs', import.meta.url);
const UNRULY = path.resolve(import.meta.dirname, '../../kernel/evaluators/custom/modules/unruly.mjs');
/** More agents with controls of their own than the thread keeps programs. */
const AGENTS = 70;

function rest(service: TestService) {
  const call = restClient(service.url);
  return { call, seed: seeder(call) };
}

describe('the thread for large steps', () => {
  let call: RestClient;
  let seed: ReturnType<typeof seeder>;
  const service = suiteService();
  beforeAll(async () => {
    ({ call, seed } = rest(service));
    await seed.agent('agent-of-large-steps');
    await startedThread(service, 'agent-of-large-steps');
  });

  it('decides by the controls of the last change', async () => {
    const id = await seed.control('changing', denyWord('ipsum'));
    await seed.link('agent-of-large-steps', id);
    for (const [word, isSafe] of [
      ['ipsum', false],
      ['dolor', true],
      ['lorem', false],
    ] as const) {
      await call('PUT', `/api/v1/controls/${id}/data`, { data: denyWord(word) });
      const { body } = await evaluate(call, 'agent-of-large-steps', FILLER);
      expect([word, body.is_safe]).toEqual([word, isSafe]);
    }
  });

  it('gives back a step that a control changes', async () => {
    const modify = [{ path: 'input', replace: 'matches', with: '***' }];
    await seed.linked('agent-of-changes', 'changing-large-steps', {
      execution: 'server',
      condition: {
        selector: { path: 'input' },
        evaluator: { name: 'regex', config: { pattern: 'sk-[a-z]+' } },
      },
      action: { decision: 'deny', modify },
    });
    const { body } = await call('POST', '/api/v1/evaluation', {
      agent_name: 'agent-of-changes',
      stage: 'pre',
      accepts: ['modify'],
      step: { type: 'llm', name: 'answer', input: `${FILLER}sk-abc` },
    });
    expect(body).toMatchObject({ is_safe: false, outcome: 'modify' });
    const { step_json: text } = body.modification as { step_json: string };
    expect(JSON.parse(text)).toMatchObject({ name: 'answer', input: `${FILLER}***` });
  });

  it('keeps the controls of few agents, and is given those of others again', async () => {
    const names = Array.from({ length: AGENTS }, (_, index) => `agent-with-a-word-${index}`);
    for (const [index, name] of names.entries()) {
      await seed.linked(name, `word-${index}`, denyWord(`word-${index}-`));
    }
    for (const round of [1, 2]) {
      const verdicts = await Promise.all(
        names.map(async (name, index) => {
          const { body } = await evaluate(call, name, `${FILLER} word-${index}- word-${index + 1}-`);
          return body.matches as { control_name: string }[];
        }),
      );
      const found = verdicts.map((matches) => matches.map(({ control_name }) => control_name));
      expect([round, found]).toEqual([round, names.map((_, index) => [`word-${index}`])]);
    }
  });

  it.each(BIDI_PROTOCOLS)('answers all messages of a stream, large and small, over %s', async (protocol) => {
    await seed.linked(
      'agent-of-streams',
      `in-streams-${BIDI_PROTOCOLS.indexOf(protocol)}`,
      denyWord('secret'),
    );
    const { evaluateStream } = createClient(EvaluationService, rpcTransport(protocol, service.url));
    const inputs = Array.from({ length: 12 }, (_, index) =>
      index % 3 === 2 ? 'secret' : `${FILLER} ${index}`,
    );
    async function* messages() {
      for (const [index, input] of inputs.entries()) {
        const value = Buffer.from(JSON.stringify({ type: 'llm', name: 'answer', input }));
        const evaluation = {
          agentName: 'agent-of-streams',
          stage: 1,
          stepForm: { case: 'stepJson' as const, value },
        };
        yield { id: String(index), evaluations: [evaluation] };
      }
    }
    const found: boolean[] = [];
    for await (const { id, results } of evaluateStream(messages())) {
      const [result] = results;
      if (result?.outcome.case === 'verdict') found[Number(id)] = result.outcome.value.isSafe;
    }
    expect(found).toEqual(inputs.map((input) => input !== 'secret'));
  });

  it('stops the evaluation of a caller that has left, and answers others', async () => {
    const left = new AbortController();
    const body = JSON.stringify({
      agent_name: 'agent-of-large-steps',
      stage: 'pre',
      step: { type: 'llm', name: 'answer', input: FILLER.repeat(20) },
    });
    const gone = fetch(`${service.url}/api/v1/evaluation`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: left.signal,
    });
    left.abort();
    await expect(gone).rejects.toThrow();
    expect((await evaluate(call, 'agent-of-large-steps', FILLER)).status).toBe(200);
  });
});

describe('a service whose thread for large steps ends', () => {
  let call: RestClient;
  const deadly = `the thread ends here ${FILLER}`;
  const service = suiteService({}, { heavyStepsEntry: MORTAL });
  beforeAll(async () => {
    const { call: client, seed } = rest(service);
    call = client;
    await seed.linked('agent-of-large-steps', 'word', denyWord('secret'));
  });

  const isBack = async () => {
    service.logLines.length = 0;
    await startedThread(service, 'agent-of-large-steps');
  };

  it('answers 503 with a time to come back, then evaluates again', async () => {
    await isBack();
    const refused = await evaluate(call, 'agent-of-large-steps', deadly);
    expect([refused.status, refused.body.error_code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    const { body } = await evaluate(call, 'agent-of-large-steps', `${FILLER} secret`);
    expect(body.is_safe).toBe(false);
    const told = service.logLines.filter((line) => line.includes('the thread for large steps ended'));
    expect(told.length).toBeGreaterThan(0);
  });

  it.each(RPC_PROTOCOLS)(
    'ends a call with UNAVAILABLE over %s, and serves the next one',
    async (protocol) => {
      await isBack();
      const { evaluate: rpc } = createClient(EvaluationService, rpcTransport(protocol, service.url));
      const message = (input: string) => ({
        agentName: 'agent-of-large-steps',
        stage: 1,
        stepForm: {
          case: 'stepJson' as const,
          value: Buffer.from(JSON.stringify({ type: 'llm', name: 'answer', input })),
        },
      });
      const error = await rpc(message(deadly)).then(
        () => expect.fail('it was evaluated'),
        (reason: unknown) => ConnectError.from(reason),
      );
      expect(error.code).toBe(Code.Unavailable);
      expect(await rpc(message(`${FILLER} secret`))).toMatchObject({ isSafe: false });
    },
  );
});

describe('a large step that a custom evaluator checks', () => {
  let call: RestClient;
  const service = suiteService({ SERVICE_EVALUATORS: UNRULY, EVALUATOR_TIMEOUT_SECONDS: '300' });
  beforeAll(async () => {
    const { call: client, seed } = rest(service);
    call = client;
    const condition = { selector: { path: 'input' }, evaluator: { name: 'unruly', config: { words: 3 } } };
    await seed.linked('agent-of-large-steps', 'unruly', denyWord('', { condition }));
    await seed.link('agent-of-large-steps', await seed.control('word', denyWord('secret')));
    await startedThread(service, 'agent-of-large-steps');
  });

  const check = async (input: object) => {
    const { body } = await evaluate(call, 'agent-of-large-steps', input);
    const [match] = body.matches as { control_name: string; result: { metadata: object } }[];
    const [error] = body.errors as { control_name: string; result: { error: string } }[];
    return { safe: body.is_safe, match: match?.control_name, error: error?.result.error };
  };

  it.each([
    ['a match', { do: 'tell its process', FILLER }, { safe: false, match: 'unruly' }],
    ['no match', { do: 'nothing', FILLER }, { safe: true }],
    ['an error', { do: 'throw', FILLER }, { safe: false, error: 'Internal evaluator error' }],
    [
      'an answer that is none',
      { do: 'answer', answer: 7, FILLER },
      { safe: false, error: 'Internal evaluator error' },
    ],
    ['the end of its process', { do: 'exit', FILLER }, { safe: false, error: 'Internal evaluator error' }],
    [
      'a match of another control',
      { do: 'wait for abort', text: `secret ${FILLER}` },
      { safe: false, match: 'word' },
    ],
  ])('has %s', async (_name, input, expected) => {
    expect(await check(input)).toEqual({ match: undefined, error: undefined, ...expected });
  });

  it.each(['90071992547409939', '0.12345678901234567890'])('has the same reply with %s', async (number) => {
    const replyTo = async (text: string) => {
      const reply = await fetch(`${service.url}/api/v1/evaluation`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"agent_name":"agent-of-large-steps","stage":"pre","step":{"type":"llm","name":"answer",
          "input":{"do":"describe data","value":${number},"text":"${text}"}}}`,
      });
      const body = await reply.text();
      expect(body).toMatch(/describe|bigint|Internal evaluator error/);
      return body.replace(/"control_execution_id":"[^"]*"/g, '');
    };
    expect(await replyTo(FILLER)).toBe(await replyTo(''));
  });

  it('is counted by the process that has it', async () => {
    const calls = async () => {
      const text = await (await fetch(`${service.url}/metrics`)).text();
      return Number(/_evaluator_calls_total\{evaluator="unruly"[^}]*\} (\d+)/.exec(text)?.[1]);
    };
    const before = await calls();
    await check({ do: 'nothing', FILLER });
    await until(calls, (count) => count === before + 1);
  });
});
