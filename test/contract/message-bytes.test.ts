import { toBinary, toJsonString } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { type AgentControl, AgentControlSchema } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { type JsonObject, type JsonValue, stringifyJson } from '../../packages/exact-json/src/index.js';
import { maxMessageBytes } from '../../src/contract/call/message-bytes.js';
import { messageMapper } from '../../src/serve/connect/message-mapper.js';
import { replyShape } from '../../src/serve/descriptors/reply-shape.js';
import { Random } from '../serve/wire/random.js';

const { fromPlain } = messageMapper(AgentControlSchema);
const printed = replyShape(AgentControlSchema, true);

/** Bytes of a control in every encoding. */
function encoded(control: JsonObject): number[] {
  const message = fromPlain(control) as AgentControl;
  return [
    toBinary(AgentControlSchema, message).length,
    Buffer.byteLength(toJsonString(AgentControlSchema, message)),
    Buffer.byteLength(stringifyJson(printed(control, {}) as JsonObject)),
  ];
}

function controlWith(config: JsonValue, more: JsonObject = {}): JsonObject {
  const leaf = { selector: { path: 'input' }, evaluator: { name: 'list', config: { values: config } } };
  return {
    id: 2 ** 31 - 1,
    name: 'control',
    control: {
      description: 'a "quoted" text with \u0001 and \u{1f600}',
      enabled: true,
      execution: 'server',
      scope: { step_types: ['tool'], stages: ['pre', 'post'] },
      condition: { and: [{ or: [leaf, { not: leaf }] }, leaf] },
      action: { decision: 'steer', steering_context: { message: 'ask', required_actions: ['a', ''] } },
      tags: ['', 'x'.repeat(200)],
      ...more,
    },
  };
}

const CONTROLS: [string, JsonObject][] = [
  ['short texts', controlWith(Array.from({ length: 300 }, (_, index) => String(index % 7)))],
  ['long texts', controlWith(['é'.repeat(100_000), '\u0000'.repeat(1_000), '"'.repeat(1_000)])],
  ['numbers', controlWith([0, 1, -1, 1.5, 1e300, 5e-324, 123456789012345])],
  ['integers beyond 2^53', controlWith([2n ** 80n, -(2n ** 70n)])],
  ['nothing', controlWith([[], {}, null, true, false, [[]], { a: {} }])],
  ['deep values', controlWith(Array.from({ length: 50 }).reduce<JsonValue>((inner) => ({ a: [inner] }), 1))],
  [
    'a template',
    controlWith([], {
      template: {
        parameters: { words: { type: 'string_list', label: 'Words', required: true, default: ['a'] } },
        definition_template: { execution: 'server', list: [1, 2, { $param: 'words' }] },
      },
      template_values: { words: ['b', 'c'] },
    }),
  ],
  ['hardly anything', { id: 1, name: 'x', control: { enabled: false } }],
];

describe('the upper bound of the size of a message', () => {
  it.each(CONTROLS)('is kept in every encoding by a control with %s', (_what, control) => {
    const bound = maxMessageBytes(AgentControlSchema, control);
    for (const bytes of encoded(control)) expect(bytes).toBeLessThanOrEqual(bound);
  });

  it('is kept by random controls, and is at most twice what the largest encoding needs', () => {
    const random = new Random(7);
    for (let round = 0; round < 500; round += 1) {
      const control = controlWith(randomJson(random, 4));
      const bound = maxMessageBytes(AgentControlSchema, control);
      const largest = Math.max(...encoded(control));
      expect(largest).toBeLessThanOrEqual(bound);
      expect(bound).toBeLessThanOrEqual(2 * largest);
    }
  });
});

function randomJson(random: Random, depth: number): JsonValue {
  const kind = random.below(depth > 0 ? 7 : 5);
  if (kind === 0) return random.below(1_000_000) / 7;
  if (kind === 1) return random.below(2 ** 31 - 1);
  if (kind === 2)
    return String.fromCharCode(...Array.from({ length: random.below(300) }, () => random.below(0xd7ff)));
  if (kind === 3) return random.below(2) === 0;
  if (kind === 4) return null;
  const items = Array.from({ length: random.below(6) }, () => randomJson(random, depth - 1));
  return kind === 5 ? items : Object.fromEntries(items.map((item, index) => [`key "${index}"`, item]));
}
