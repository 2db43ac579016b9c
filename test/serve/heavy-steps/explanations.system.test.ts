import { toBinary, toJsonString } from '@bufbuild/protobuf';
import { beforeAll, describe, expect, it } from 'vitest';
import { ExplainRequestSchema } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { type JsonObject, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { messageMapper } from '../../../src/serve/connect/message-mapper.js';
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

const ROUTE = '/api/v1/evaluation/explain';
const RPC = '/enforcement.v1.EvaluationService/Explain';
const badData = explained({ data: { action: { decision: 'nothing' } } });
const CASES: Readonly<Record<string, JsonObject>> = {
  'of the controls of an agent': explained(),
  'of a step as a text': {
    agent_name: AGENT,
    stage: 'pre',
    step_json: Buffer.from(JSON.stringify(explained().step)).toString('base64'),
  },
  'of a definition': explained({ data: denyWord('bad') as JsonObject }),
  'of a definition that is none': badData,
  'of an unknown control': explained({ control_ids: [999] }),
  'for an unknown agent': explained({ agent_name: 'nobody-has-this-one' }),
  'with a member that is unknown': { ...explained(), stagge: 'pre' },
  'with such a member beside a definition': {
    ...explained({ data: denyWord('bad') as JsonObject }),
    stagge: 'pre',
  },
  'with such a member beside one that is none': { ...badData, stagge: 'pre' },
  'with a number that no double holds': explained({}, { text: FILLER, amount: '9007199254740993.5' }),
  'without a step': { agent_name: AGENT, stage: 'pre', session_id: FILLER },
};

/** With its members that the message does not have: JSON of Connect has the names of the others, and their words. */
function formsOf(request: JsonObject): Forms {
  const { stagge, ...known } = request;
  const message = messageMapper(ExplainRequestSchema).fromPlain(known) as never;
  const text = toJsonString(ExplainRequestSchema, message);
  return {
    rest: Buffer.from(stringifyJson(request)),
    json: Buffer.from(stagge === undefined ? text : `{"stagge":"pre",${text.slice(1)}`),
    binary: toBinary(ExplainRequestSchema, message),
  };
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

describe('a large message of Explain', () => {
  it.each(Object.entries(CASES))('%s has the reply of a service without the thread', async (_, request) => {
    const forms = formsOf(request);
    for (const [form, path] of [
      ['rest', ROUTE],
      ['json', RPC],
    ] as const) {
      const bytes = forms[form] ?? new Uint8Array();
      const reply = (service: TestService) => exchange(service.url, path, 'application/json', bytes);
      expect(same(await reply(threaded)), form).toEqual(same(await reply(plain)));
    }
    const status = async ({ url }: TestService) => {
      const { headers } = await exchange(url, RPC, 'application/proto', forms.binary ?? new Uint8Array());
      return headers[':status'];
    };
    expect(await status(threaded)).toBe(await status(plain));
  });
});

it('an evaluation that is sent while a large step is explained is answered before it', async () => {
  const call = restClient(threaded.url);
  const items = Array.from({ length: 200_000 }, (_, number) => `item-${number}`);
  const order: string[] = [];
  const explaining = call('POST', ROUTE, explained({}, { items })).then(({ status, body }) => {
    order.push(`explained ${status} ${body.controls.length}`);
  });
  for (let count = 0; count < 3; count += 1) {
    const { status } = await evaluate(call, AGENT, 'good');
    order.push(`evaluated ${status}`);
  }
  await explaining;
  expect(order).toEqual(['evaluated 200', 'evaluated 200', 'evaluated 200', 'explained 200 4']);
});
