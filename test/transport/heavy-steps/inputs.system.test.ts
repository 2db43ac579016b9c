import { toBinary, toJsonString } from '@bufbuild/protobuf';
import { beforeAll, describe, expect, it } from 'vitest';
import { LintConfigurationRequestSchema } from '../../../gen/proto/enforcement/v1/configuration_service_pb.js';
import { ExplainRequestSchema } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { type JsonObject, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { messageMapper } from '../../../src/transport/connect/message-mapper.js';
import { restClient } from '../../support/http.js';
import { denyWord, evaluate, seeder } from '../../support/seed.js';
import type { TestService } from '../../support/service.js';
import { suiteService } from '../../support/service-suite.js';
import { exchange, type Forms, type RawReply } from '../event-reading/messages.support.js';
import { FILLER, startedThread } from './heavy-steps.support.js';

const AGENT = 'agent-with-explanations';
const NO_THREAD = new URL('./there-is-no-thread.mjs', import.meta.url);

/** The same service twice: one passes large messages to its thread, the other one has no thread. */
const threaded = suiteService();
const plain = suiteService({}, { heavyStepsEntry: NO_THREAD });

async function seeded({ url }: TestService): Promise<void> {
  const { agent, control, link } = seeder(restClient(url));
  const registered = { type: 'tool', name: 'registered', input_schema: { required: ['to'] } };
  await agent(AGENT, { steps: [registered] });
  const rate = { name: 'rate', config: { limit: 5, period: '24h', key: ['agent'] } };
  for (const [name, data] of [
    ['no-bad', denyWord('bad')],
    ['off', denyWord('bad', { enabled: false })],
    ['unknown', denyWord('bad', { condition: { selector: {}, evaluator: { name: 'nowhere', config: {} } } })],
    ['not-often', denyWord('bad', { condition: { selector: {}, evaluator: rate } })],
  ] as const)
    await link(AGENT, await control(name, data));
}

beforeAll(async () => {
  for (const service of [threaded, plain]) await seeded(service);
  await startedThread(threaded, AGENT);
});

const explained = (more: JsonObject = {}, input: JsonObject = { text: `${FILLER} bad` }): JsonObject => ({
  agent_name: AGENT,
  stage: 'pre',
  step: { type: 'tool', name: 'registered', input },
  ...more,
});
const documents = Array.from({ length: 400 }, (_, number) => ({
  kind: 'Control',
  name: `control-${number}`,
  data: denyWord(number === 7 ? 'a^b' : `word-${number}`, { description: 'd'.repeat(100) }) as JsonObject,
}));

const RPCS = {
  Explain: {
    schema: ExplainRequestSchema,
    path: '/api/v1/evaluation/explain',
    rpc: '/enforcement.v1.EvaluationService/Explain',
    cases: {
      'of the controls of an agent': explained(),
      'of a step as a text': {
        agent_name: AGENT,
        stage: 'pre',
        step_json: Buffer.from(JSON.stringify(explained().step)).toString('base64'),
      },
      'of a definition': explained({ data: denyWord('bad') as JsonObject }),
      'of a definition that is none': explained({ data: { action: { decision: 'nothing' } } }),
      'of an unknown control': explained({ control_ids: [999] }),
      'for an unknown agent': explained({ agent_name: 'nobody-has-this-one' }),
      'with a member that is unknown': { ...explained(), stagge: 'pre' },
      'with a number that no double holds': explained({}, { text: FILLER, amount: '9007199254740993.5' }),
      'without a step': { agent_name: AGENT, stage: 'pre', session_id: FILLER },
    },
  },
  LintConfiguration: {
    schema: LintConfigurationRequestSchema,
    path: '/api/v1/configuration/lint',
    rpc: '/enforcement.v1.ConfigurationService/LintConfiguration',
    cases: {
      'of many documents': { documents },
      'of each alone': { documents, each_alone: true },
      'with a member that is unknown': { documents: [...documents, { ...documents[0], nam: 'x' }] },
      'with a kind that is unknown': { documents: [...documents, { kind: 'Polcy', name: 'p' }] },
      'with documents that are none': { documents: [...documents, 'text', 7, null] },
    },
  },
} as const;

function formsOf({ schema }: (typeof RPCS)[keyof typeof RPCS], request: JsonObject): Forms {
  const rest = Buffer.from(stringifyJson(request));
  try {
    const message = messageMapper(schema).fromPlain(request) as never;
    return { rest, json: Buffer.from(toJsonString(schema, message)), binary: toBinary(schema, message) };
  } catch {
    return { rest };
  }
}

/** Without what differs between two calls: times, lengths that they have, and random ids. */
const same = ({ headers, body, trailers }: RawReply) => {
  const { 'content-length': _length, ...others } = headers;
  const text = body.replace(
    /"(duration_us|durationUs|control_execution_id|controlExecutionId)":[^,}]*/g,
    '"$1"',
  );
  return { headers: others, body: text, trailers };
};

describe.each(Object.entries(RPCS))('a large message of %s', (_, rpc) => {
  it.each(Object.entries(rpc.cases))(
    '%s has the reply of a service without the thread',
    async (_, request) => {
      const forms = formsOf(rpc, request as JsonObject);
      for (const [form, path, type] of [
        ['rest', rpc.path, 'application/json'],
        ['json', rpc.rpc, 'application/json'],
      ] as const) {
        const bytes = forms[form];
        if (bytes === undefined) continue;
        const reply = (service: TestService) => exchange(service.url, path, type, bytes);
        expect(same(await reply(threaded)), form).toEqual(same(await reply(plain)));
      }
      if (forms.binary === undefined) return;
      const status = async (service: TestService) =>
        (await exchange(service.url, rpc.rpc, 'application/proto', forms.binary as Uint8Array)).headers[
          ':status'
        ];
      expect(await status(threaded)).toBe(await status(plain));
    },
  );
});

it('an evaluation that is sent while a large step is explained is answered before it', async () => {
  const call = restClient(threaded.url);
  const items = Array.from({ length: 200_000 }, (_, number) => `item-${number}`);
  const order: string[] = [];
  const explaining = call('POST', RPCS.Explain.path, explained({}, { items })).then(({ status, body }) => {
    order.push(`explained ${status} ${body.controls.length}`);
  });
  for (let count = 0; count < 3; count += 1) {
    const { status } = await evaluate(call, AGENT, 'good');
    order.push(`evaluated ${status}`);
  }
  await explaining;
  expect(order).toEqual(['evaluated 200', 'evaluated 200', 'evaluated 200', 'explained 200 4']);
});
