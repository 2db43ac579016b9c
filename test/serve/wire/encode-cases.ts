import { Code } from '@connectrpc/connect';
import { BadRequestSchema } from '../../../gen/proto/google/rpc/error_details_pb.js';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { APPROVAL_STATES } from '../../../src/decide/decisions/approval-gate.js';
import { createRandomIds } from '../../../src/decide/decisions/random-id.js';
import type { RevisedVerdict } from '../../../src/decide/decisions/revised-verdict.js';
import type { AppliedLimit } from '../../../src/kernel/core/memory.js';
import type { ControlResult, SteeringContext } from '../../../src/kernel/core/types.js';
import { directCodec } from '../../../src/serve/wire/direct-codec.js';
import type { EvaluationCodec, EvaluationOutcome } from '../../../src/serve/wire/evaluation-codec.js';
import { protobufEsCodec } from '../../../src/serve/wire/protobuf-es-codec.js';
import { RpcStatus } from '../../../src/serve/wire/rpc-status.js';
import type { Random } from './random.js';

const newId = createRandomIds();

/** Encodes random replies of all kinds both ways and throws when a byte differs. */
export function compareRandomEncoding(random: Random, replies: number): void {
  for (let made = 0; made < replies; made += 1) {
    const frame = randomReply(random);
    const found = frame(directCodec);
    const expected = frame(protobufEsCodec);
    if (found.equals(expected)) continue;
    // Not the whole of both: they may be long.
    const at = expected.findIndex((byte, index) => byte !== found[index]);
    const part = (bytes: Buffer): string => bytes.subarray(Math.max(0, at - 20), at + 20).toString('hex');
    throw new Error(`reply ${made} differs at byte ${at}: ${part(found)} instead of ${part(expected)}`);
  }
}

function randomReply(random: Random): (codec: EvaluationCodec) => Buffer {
  const outcomes = (): EvaluationOutcome[] =>
    random.list(random.count(8), () => (random.chance(0.2) ? randomStatus(random) : randomVerdict(random)));
  switch (random.below(4)) {
    case 0: {
      const verdict = randomVerdict(random);
      return (codec) => codec.frameVerdict(verdict);
    }
    case 1: {
      const drainWithinMs = random.pick([0, 1, 999, 1_000, 30_000, random.below(10_000_000)]);
      return (codec) => codec.frameNotice(drainWithinMs);
    }
    case 2: {
      const made = outcomes();
      return (codec) => codec.frameBatch(made);
    }
    default: {
      const made = random.list(1 + random.count(5), () => ({ id: text(random), outcomes: outcomes() }));
      return (codec) => codec.frameStream(made);
    }
  }
}

export function randomVerdict(random: Random): RevisedVerdict {
  const results = (): ControlResult[] => random.list(random.count(10), () => randomResult(random));
  return {
    is_safe: random.chance(0.5),
    confidence: number(random),
    reason: random.chance(0.5) ? null : text(random),
    matches: results(),
    errors: results(),
    non_matches: results(),
    selected_controls: random.pick([0, 1, 127, 128, 2 ** 31 - 1]),
    evaluated_controls: random.pick([0, 1, 127, 128, 2 ** 31 - 1]),
    skipped_controls: random.pick([0, 1, 127, 128, 2 ** 31 - 1]),
    revision: random.pick([0, 1, 127, 128, 2 ** 31, 2 ** 32 + 5, 2 ** 49, Number.MAX_SAFE_INTEGER]),
    schema_mismatch: random.pick([
      null,
      null,
      { part: 'input', path: 'input.text', problem: 'is required', not_compared: false },
      { part: 'output', path: 'output', problem: 'cannot be compared: ünlesbar', not_compared: true },
    ]),
    staleness_seconds: random.pick([null, null, 0, 1, 127, 128, 2 ** 32 - 1]),
    outcome: random.pick(['allow', 'deny', 'steer', 'ask', 'modify']),
    decision_id: random.pick([newId(), '9a0e7d3a-7e0e-4c55-8f2a-4dbe2f110b8f', text(random)]),
    ...(random.chance(0.5) ? {} : { limits: random.list(random.count(4), () => randomLimit(random)) }),
    ...(random.chance(0.7) ? {} : { halt: randomHalt(random) }),
    ...(random.chance(0.7) ? {} : { approval: randomApproval(random) }),
    ...(random.chance(0.7) ? {} : { modification: randomModification(random) }),
  };
}

function randomLimit(random: Random): AppliedLimit {
  const time = (): number | null => random.pick([null, 0, 1, 999_999, 1_000_000, 86_400_000_000, 1.5]);
  return {
    controlId: random.pick([1, 128, 2 ** 31 - 1]),
    controlName: text(random),
    evaluatorName: random.pick(['rate', 'budget', 'history']),
    limit: number(random),
    remaining: number(random),
    resetsAfterUs: time(),
    retryAfterUs: time(),
    windowUs: time(),
    degraded: random.pick([null, null, 'store_unavailable', 'local', 'missing_key']),
    key: text(random),
    sinceUs: random.pick([null, 0, 1_795_687_224_000_001, 1_795_687_224_123_456]),
  };
}

function randomHalt(random: Random): NonNullable<RevisedVerdict['halt']> {
  const expiresAtMs = random.pick([null, 1, 1_795_687_224_000, 1_795_687_224_123]);
  return { haltId: random.pick([1, 128, 2 ** 31 - 1]), reason: text(random), expiresAtMs };
}

function randomApproval(random: Random): NonNullable<RevisedVerdict['approval']> {
  return {
    id: random.pick([1, 128, 2 ** 31 - 1]),
    state: random.pick(APPROVAL_STATES),
    expiresAtMs: random.pick([1, 1_795_687_224_000, 1_795_687_224_123]),
    stepSha256: 'a5'.repeat(32),
    controls: random.list(random.count(3), () => ({ id: random.pick([1, 2 ** 31 - 1]), name: text(random) })),
  };
}

function randomModification(random: Random): NonNullable<RevisedVerdict['modification']> {
  const input = object(random, 0);
  return {
    step: { type: 'tool', name: text(random), input, output: null, context: null },
    patch: [
      { op: 'replace', path: '/input', value: json(random, 1) },
      { op: 'remove', path: '/input/a~1b' },
    ],
    controlIds: random.list(random.count(3), () => random.pick([1, 2 ** 31 - 1])),
  };
}

function randomResult(random: Random): ControlResult {
  return {
    control_execution_id: random.chance(0.9) ? '0b8f2a62-7e0e-4c55-9e0a-7d3a4dbe2f11' : text(random),
    control_id: random.pick([0, 1, 127, 128, 16_384, 2 ** 31 - 1]),
    control_name: text(random),
    action: random.pick(['deny', 'steer', 'observe']),
    result: {
      matched: random.chance(0.5),
      confidence: number(random),
      message: random.chance(0.5) ? null : text(random),
      metadata: random.chance(0.5) ? null : object(random, 0),
      error: random.chance(0.7) ? null : text(random),
    },
    steering_context: random.chance(0.7) ? null : steering(random),
  };
}

function steering(random: Random): SteeringContext {
  const actions = random.list(random.count(4), () => text(random));
  return { message: text(random), ...(random.chance(0.5) ? { required_actions: actions } : {}) };
}

function randomStatus(random: Random): RpcStatus {
  const fieldViolations = random.list(random.count(3), () => ({
    field: text(random),
    // What protobuf-es cannot write is an error of its own.
    description: 'must not be empty',
  }));
  const details = [{ desc: BadRequestSchema, value: { fieldViolations } }];
  return new RpcStatus(Code.InvalidArgument, text(random), random.chance(0.5) ? details : []);
}

function number(random: Random): number {
  return random.pick([0, -0, 1, 0.5, 0.1, Number.NaN, 1e-300, Number.POSITIVE_INFINITY]);
}

const TEXTS = [
  '',
  'matched',
  'Zürich',
  '漢字',
  '😀',
  '\ud83d',
  '\ude00',
  'a\ud83db',
  '\ufeff',
  '\u0000',
  '__proto__',
];
/** Lengths about those where the form changes. */
const LENGTHS = [1, 2, 10, 63, 64, 65, 127, 128, 129, 500];

function text(random: Random): string {
  if (random.chance(0.002)) return random.pick(TEXTS).repeat(20_000);
  if (random.chance(0.3)) return 'x'.repeat(random.pick(LENGTHS) - 1) + random.pick(TEXTS);
  return random.pick(TEXTS) + random.pick(TEXTS);
}

function object(random: Random, depth: number): JsonObject {
  const entries = random.list(random.count(6), () => [text(random), json(random, depth + 1)]);
  return Object.fromEntries(entries) as JsonObject;
}

function json(random: Random, depth: number): JsonValue {
  switch (random.below(depth > 4 ? 5 : 7)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
      return number(random);
    case 3:
      return random.pick([2n ** 53n + 1n, -(2n ** 70n)]);
    case 4:
      return text(random);
    case 5:
      return random.list(random.count(4), () => json(random, depth + 1));
    default:
      return object(random, depth);
  }
}
