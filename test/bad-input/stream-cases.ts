import { EvaluateStreamRequestSchema } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { envelope, wire } from '../support/bad-input-rpc.js';
import { INVALID_UTF8 } from '../support/bad-input-values.js';
import { MAX_BODY_BYTES } from './rest-cases.js';
import { listsDeep, message, stepJson, stepWith, value } from './rpc-messages.js';

/** What one evaluation of a stream is answered with: a verdict, or a code and its field violations. */
export type StreamAnswer =
  | 'verdict'
  | readonly [code: string, ...violations: [field: string, reason: string][]];

/** A stream of which some part must be refused. */
export interface StreamCase {
  readonly name: string;
  /** Sent once the first message, a good one, is answered. */
  readonly rest: Buffer | (() => Buffer);
  /** Every reply as [id, answers], in any order. */
  readonly replies: readonly (readonly [id: string, ...answers: StreamAnswer[]])[];
  /** How the stream ends. */
  readonly code: string;
}

const GOOD_EVALUATION = stepJson('{"type":"llm","name":"answer","input":"harmless"}');

/** A message of the stream with evaluations as bytes. */
function item(id: string | Buffer, ...evaluations: Buffer[]): Buffer {
  return envelope(Buffer.concat([wire.bytes(1, id), ...evaluations.map((one) => wire.bytes(2, one))]));
}

/** The first message of every stream. */
export const GOOD = item('good', GOOD_EVALUATION);
const GOOD_REPLY = ['good', 'verdict'] as const;
const invalid = (field: string, reason: string): StreamAnswer => ['INVALID_ARGUMENT', [field, reason]];
const andGood = (bad: Buffer | (() => Buffer)) => () =>
  Buffer.concat([typeof bad === 'function' ? bad() : bad, GOOD]);

/** Mistakes that concern one message or evaluation: the others are answered as if nothing had happened. */
const ITEMS: readonly (readonly [
  name: string,
  bad: Buffer | (() => Buffer),
  reply: StreamCase['replies'][number],
])[] = [
  ['no evaluations', item('bad'), ['bad', invalid('evaluations', 'TOO_SHORT')]],
  [
    '1,001 evaluations',
    () => item('bad', ...Array.from({ length: 1_001 }, () => GOOD_EVALUATION)),
    ['bad', invalid('evaluations', 'TOO_LONG')],
  ],
  [
    '1,000,000 empty evaluations',
    () => envelope(Buffer.concat([wire.bytes(1, 'bad'), Buffer.from('1200'.repeat(1_000_000), 'hex')])),
    ['bad', invalid('evaluations', 'TOO_LONG')],
  ],
  [
    'an id of 129 characters',
    item('i'.repeat(129), GOOD_EVALUATION),
    ['i'.repeat(128), invalid('id', 'STRING_TOO_LONG')],
  ],
  [
    'an id of one mebibyte',
    () => item('i'.repeat(1_048_576), GOOD_EVALUATION),
    ['i'.repeat(128), invalid('id', 'STRING_TOO_LONG')],
  ],
  ['an empty message', envelope(Buffer.alloc(0)), ['', invalid('evaluations', 'TOO_SHORT')]],
  [
    'an empty evaluation',
    item('bad', Buffer.alloc(0)),
    ['bad', ['INVALID_ARGUMENT', ['agent_name', 'MISSING'], ['step', 'MISSING'], ['stage', 'MISSING']]],
  ],
  [
    'an unknown agent',
    item('bad', Buffer.concat([GOOD_EVALUATION, wire.bytes(1, 'nobody-knows-me')])),
    ['bad', ['NOT_FOUND']],
  ],
  [
    'bad JSON between good evaluations',
    item('bad', GOOD_EVALUATION, stepJson('{'), GOOD_EVALUATION),
    ['bad', 'verdict', invalid('step_json', 'JSON_INVALID'), 'verdict'],
  ],
  [
    'JSON in invalid UTF-8',
    item('bad', stepJson(Buffer.concat([Buffer.from('"'), INVALID_UTF8, Buffer.from('"')]))),
    ['bad', invalid('step_json', 'JSON_INVALID')],
  ],
  [
    'NaN',
    item('bad', stepWith(wire.bytes(3, value.number(Number.NaN)))),
    ['bad', invalid('step.input', 'FINITE_NUMBER')],
  ],
  [
    'an input 250 deep',
    () => item('bad', stepWith(wire.bytes(3, listsDeep(250)))),
    ['bad', invalid('step.input', 'RECURSION_LOOP')],
  ],
  [
    'an unknown stage',
    item('bad', Buffer.concat([GOOD_EVALUATION, wire.number(2, 9)])),
    ['bad', invalid('stage', 'LITERAL_ERROR')],
  ],
  [
    'an unknown detail',
    item('bad', Buffer.concat([GOOD_EVALUATION, wire.number(5, 9)])),
    ['bad', invalid('detail', 'LITERAL_ERROR')],
  ],
];

/** Mistakes that leave no way to find the next message: what came before is answered, then the stream ends. */
const ENDS: readonly (readonly [name: string, bad: Buffer | (() => Buffer), code: string])[] = [
  ['a message that cannot be decoded', envelope(Buffer.from([0x0f, 0xff])), 'INVALID_ARGUMENT'],
  ['an id in invalid UTF-8', item(INVALID_UTF8, GOOD_EVALUATION), 'INVALID_ARGUMENT'],
  ['an id of another wire type', envelope(wire.number(1, 1)), 'INVALID_ARGUMENT'],
  ['an input 10,000 deep', () => item('bad', stepWith(wire.bytes(3, listsDeep(10_000)))), 'INVALID_ARGUMENT'],
  [
    'a compressed message without an encoding',
    envelope(message(EvaluateStreamRequestSchema, { id: 'bad' }), { flags: 1 }),
    'INVALID_ARGUMENT',
  ],
  [
    'a length over the limit',
    envelope(Buffer.alloc(0), { length: MAX_BODY_BYTES + 1 }),
    'RESOURCE_EXHAUSTED',
  ],
  ['a message over the limit', () => envelope(Buffer.alloc(MAX_BODY_BYTES + 1)), 'RESOURCE_EXHAUSTED'],
];

/** Every stream with something in it that must be refused. */
export const STREAM_CASES: readonly StreamCase[] = [
  ...ITEMS.map(([name, bad, reply]) => ({
    name,
    rest: andGood(bad),
    replies: [GOOD_REPLY, reply, GOOD_REPLY],
    code: 'OK',
  })),
  ...ENDS.map(([name, bad, code]) => ({ name, rest: andGood(bad), replies: [GOOD_REPLY], code })),
  {
    name: 'an envelope that is cut off',
    rest: GOOD.subarray(0, -3),
    replies: [GOOD_REPLY],
    code: 'INVALID_ARGUMENT',
  },
  {
    name: 'half the head of an envelope',
    rest: Buffer.from([0, 0]),
    replies: [GOOD_REPLY],
    code: 'INVALID_ARGUMENT',
  },
];
