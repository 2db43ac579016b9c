import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { EvaluateRequestSchema } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import { freeFormFromPlain } from '../../../src/serve/wire/free-form-mapper.js';
import { compareDecoding, KINDS } from './decode-cases.js';

const value = (plain: JsonValue): Value => freeFormFromPlain(ValueSchema, plain) as Value;

function request(init: MessageInitShape<typeof EvaluateRequestSchema>): Buffer {
  return Buffer.from(toBinary(EvaluateRequestSchema, create(EvaluateRequestSchema, init)));
}

const typed = (input: JsonValue, name = ''): Buffer =>
  request({ stepForm: { case: 'step', value: { name, input: value(input) } } });
const json = (text: string): Buffer => request({ stepForm: { case: 'stepJson', value: Buffer.from(text) } });

function nested(levels: number): JsonValue {
  let made: JsonValue = true;
  for (let level = 0; level < levels; level += 1) made = level % 2 === 0 ? [made] : { a: made };
  return made;
}

/** A step whose input has one member, of this name, written without protobuf-es. */
function member(name: string): Buffer {
  const section = (tag: number, ...inner: Buffer[]): Buffer => {
    const bytes = Buffer.concat(inner);
    return Buffer.concat([Buffer.from([tag, bytes.length]), bytes]);
  };
  const entry = section(0x0a, section(0x0a, Buffer.from(name)), section(0x12, Buffer.from([0x20, 0x01])));
  return section(0x1a, section(0x1a, section(0x2a, entry)));
}

const parts = (...bytes: Buffer[]): Buffer => Buffer.concat(bytes);

/** What it is, its bytes, and whether it is read without protobuf-es. */
const CASES: [string, Buffer, boolean][] = [
  ['nothing', Buffer.alloc(0), true],
  ['a typed step', typed({ a: [1, 'x', null, true, { b: -0 }] }, 'answer'), true],
  ['a step as JSON text', json('{}'), true],
  ['two typed steps, which are merged', parts(typed({ a: 1 }, 'first'), typed({ b: 2 })), false],
  ['a typed step behind one as JSON', parts(json('{}'), typed(1)), true],
  ['a step as JSON behind a typed one', parts(typed(1), json('{}')), true],
  ['a typed step that cannot be, and one as JSON behind', parts(typed(Number.NaN), json('{}')), false],
  ['three steps', parts(typed(1, 'first'), json('{}'), typed(2)), true],
  ['the same field again', parts(request({ agentName: 'first' }), request({ agentName: 'second' })), true],
  ['a number that is none', typed([Number.NaN]), false],
  ['an infinite number', typed({ a: Number.POSITIVE_INFINITY }), false],
  ['JSON as deep as is allowed', typed(nested(199)), true],
  ['JSON that is too deep', typed(nested(200)), false],
  ['JSON that is deeper than messages may be', typed(nested(380)), false],
  ['a member of an ordinary name', member('constructor'), true],
  ['a member named __proto__', member('__proto__'), false],
  ['a byte order mark', request({ agentName: '\ufeffagent' }), false],
  ['a replacement character', request({ agentName: '\ufffd' }), false],
  ['invalid UTF-8', Buffer.from([0x0a, 0x01, 0xff]), false],
  ['an unknown field', parts(Buffer.from([0x80, 0x01, 0x01]), typed(1)), true],
  ['an unknown group', parts(Buffer.from([0x83, 0x01, 0x84, 0x01]), typed(1)), false],
  ['an unknown group that does not end', Buffer.from([0x83, 0x01]), false],
  ['a known field of the wrong wire type', Buffer.from([0x0d, 0x01, 0x61, 0x61, 0x61]), false],
  ['a field of the number 0', Buffer.from([0x00, 0x00]), false],
  ['a negative stage', Buffer.from([0x10, ...Array(9).fill(0xff), 0x01]), false],
  ['a stage in a longer varint than it needs', Buffer.from([0x10, 0x81, 0x80, 0x00]), true],
  ['a varint that does not end', Buffer.from([0x10, ...Array(11).fill(0xff)]), false],
  ['a revision beyond 2^53', request({ minRevision: 2n ** 62n }), false],
  ['a large revision', request({ minRevision: 2n ** 48n }), true],
  ['a target', request({ targetType: 'env', targetId: 'prod' }), true],
  ['an empty target', request({ targetType: '', targetId: '' }), true],
  ['half a target', request({ targetId: 'prod' }), true],
  ['options', request({ sessionId: 's', stepId: '1', traceparent: '00-a-b-01', accepts: [1, 5] }), true],
  ['the error of a step', request({ stepError: 'no route to host' }), true],
  ['an empty error of a step', request({ stepError: '' }), true],
  ['a timeout', request({ timeout: { seconds: 3n, nanos: 5 } }), true],
  ['an empty timeout', request({ timeout: {} }), true],
  ['a negative timeout', request({ timeout: { seconds: -3n, nanos: 5 } }), false],
  ['a timeout of too many nanos', request({ timeout: { nanos: 1_000_000_000 } }), true],
  ['two timeouts', parts(request({ timeout: { seconds: 3n } }), request({ timeout: { nanos: 1 } })), false],
  ['accepted outcomes that are not packed', Buffer.from([0x70, 0x01, 0x70, 0x02]), false],
  ['accepted outcomes in two parts', Buffer.from([0x72, 0x01, 0x01, 0x72, 0x02, 0x02, 0x63]), true],
  ['no accepted outcomes', Buffer.from([0x72, 0x00]), true],
  ['a negative revision', request({ minRevision: -1n }), false],
  ['a string that does not end', Buffer.from([0x0a, 0x05, 0x61]), false],
  ['a step whose member reaches beyond it', Buffer.from([0x1a, 0x02, 0x0a, 0x02, 0x61, 0x61]), false],
  ['a Value of two kinds', Buffer.from([0x1a, 0x06, 0x1a, 0x04, 0x20, 0x01, 0x2a, 0x00]), false],
  ['two Values, which are merged', Buffer.from([0x1a, 0x06, 0x1a, 0x02, 0x20, 0x01, 0x1a, 0x00]), false],
];

describe('a request', () => {
  const [kind] = KINDS;
  it.each(CASES)('with %s is read as protobuf-es does', (_name, bytes, isDirect) => {
    if (kind === undefined) throw new Error('there are no kinds');
    const tally = { messages: 0, accepted: 0, direct: 0 };
    compareDecoding(kind, bytes, tally);
    expect(tally.direct).toBe(isDirect ? 1 : 0);
  });
});
