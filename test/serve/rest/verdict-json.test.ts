import { toJson } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EvaluateResponseSchema } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { type JsonObject, type JsonValue, stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { RevisedVerdict } from '../../../src/decide/decisions/revised-verdict.js';
import { standing } from '../../../src/kernel/core/standing-results.js';
import type { ControlResult, EvaluatorResult, Verdict } from '../../../src/kernel/core/types.js';
import { printVerdict } from '../../../src/serve/rest/verdict-json.js';
import { verdictMessage } from '../../../src/serve/wire/evaluation-messages.js';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('', 'a"b\\c', '\ud800', '\u2028', 'x'.repeat(3_000)),
);
const confidence = fc.double({ min: 0, max: 1, noNaN: true });
const metadata = fc.dictionary(
  text,
  fc.oneof(fc.jsonValue(), fc.bigInt(), fc.double()) as fc.Arbitrary<JsonValue>,
);
const result: fc.Arbitrary<EvaluatorResult> = fc
  .record({
    matched: fc.boolean(),
    confidence,
    message: fc.option(text),
    metadata: fc.option(metadata),
    error: fc.option(text),
    stands: fc.boolean(),
  })
  .map(({ stands, ...rest }) => (stands ? standing(rest) : rest));
const LIMIT = {
  controlId: 7,
  controlName: 'mails an hour',
  evaluatorName: 'rate',
  limit: 20,
  remaining: 0,
  resetsAfterUs: 3_600_000_000,
  retryAfterUs: 1_500,
  windowUs: null,
  degraded: null,
  key: 'agent "billing-bot-01"',
  sinceUs: 1_795_687_224_123_456,
} as const;
const LIMIT_MEMBERS = {
  control_id: 7,
  control_name: 'mails an hour',
  evaluator_name: 'rate',
  limit: 20,
  remaining: 0,
  resets_after: '3600s',
  retry_after: '0.001500s',
  window: null,
  degraded: '',
  key: 'agent "billing-bot-01"',
  counts_since: '2026-11-26T10:00:24.123Z',
};
const MISMATCH = {
  part: 'input',
  path: 'input."text"',
  problem: 'is required',
  not_compared: false,
} as const;
/** Few results and few controls, so that the same ones meet again and again, under other names too. */
const verdicts: fc.Arbitrary<RevisedVerdict[]> = fc
  .array(result, { minLength: 1, maxLength: 3 })
  .chain((results) => {
    const item: fc.Arbitrary<ControlResult> = fc.record({
      control_execution_id: fc.uuid(),
      control_id: fc.integer({ min: 1, max: 3 }),
      control_name: fc.constantFrom('one', 'other', 'with "quotes"'),
      action: fc.constantFrom('deny', 'steer', 'observe'),
      result: fc.constantFrom(...results),
      steering_context: fc.constantFrom(null, { message: 'a' }, { message: 'b', required_actions: ['c'] }),
    });
    const list = fc.array(item, { maxLength: 4 });
    const verdict = fc.record({
      is_safe: fc.boolean(),
      confidence,
      reason: fc.option(text),
      matches: list,
      errors: list,
      non_matches: list,
      selected_controls: fc.nat(),
      evaluated_controls: fc.nat(),
      skipped_controls: fc.nat(),
      revision: fc.nat(),
      staleness_seconds: fc.constant(null),
      schema_mismatch: fc.constantFrom(null, MISMATCH),
      outcome: fc.constantFrom('allow', 'deny', 'steer'),
      decision_id: fc.uuid(),
    });
    return fc.array(verdict, { minLength: 1, maxLength: 4 });
  });

describe('the text of a verdict', () => {
  it('is that of its members, however often its results come again', () => {
    fc.assert(
      fc.property(verdicts, (all) => {
        for (const verdict of all) {
          const { outcome, decision_id, selected_controls, evaluated_controls, schema_mismatch } = verdict;
          const { skipped_controls } = verdict;
          const members = asJson(verdict);
          expect(printVerdict(verdict, false).toString()).toBe(stringifyJson(members));
          expect(printVerdict(verdict, true).toString()).toBe(
            stringifyJson({
              ...members,
              outcome,
              decision_id: String(decision_id),
              selected_controls,
              evaluated_controls,
              ...(schema_mismatch === null ? {} : { schema_mismatch: { ...schema_mismatch } }),
              skipped_controls,
            }),
          );
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('limits and the halt of a verdict', () => {
  const bare: RevisedVerdict = {
    is_safe: false,
    confidence: 1,
    reason: null,
    matches: [],
    errors: [],
    non_matches: [],
    selected_controls: 1,
    evaluated_controls: 1,
    skipped_controls: 0,
    revision: 3,
    staleness_seconds: null,
    schema_mismatch: null,
    outcome: 'deny',
    decision_id: 'd',
  };
  const printed = (verdict: RevisedVerdict) => JSON.parse(printVerdict(verdict, true).toString());

  it('are printed if the caller accepts outcomes, behind everything else', () => {
    const degraded = { ...LIMIT, degraded: 'local', windowUs: 60_000_000, sinceUs: null } as const;
    const halt = { haltId: 3, reason: 'stop "now"', expiresAtMs: 1_795_687_224_000 };
    const verdict = { ...bare, limits: [LIMIT, degraded], halt };
    const degradedMembers = { ...LIMIT_MEMBERS, degraded: 'local', window: '60s', counts_since: null };
    expect(Object.entries(printed(verdict)).slice(-2)).toEqual([
      ['limits', [LIMIT_MEMBERS, degradedMembers]],
      ['halt', { halt_id: 3, reason: 'stop "now"', expires_at: '2026-11-26T10:00:24Z' }],
    ]);
    expect(printVerdict(verdict, false).toString()).toBe(printVerdict(bare, false).toString());
    expect(printed(bare)).not.toHaveProperty('limits');
  });

  it('are the texts that protobuf prints for the message', () => {
    const verdict = { ...bare, limits: [LIMIT], halt: { haltId: 3, reason: 'stop', expiresAtMs: null } };
    const { limits, halt } = toJson(EvaluateResponseSchema, verdictMessage(verdict), {
      useProtoFieldName: true,
      alwaysEmitImplicit: true,
    }) as JsonObject;
    const { window, ...members } = LIMIT_MEMBERS;
    expect(window).toBeNull();
    expect(limits).toEqual([members]);
    expect(halt).toEqual({ halt_id: 3, reason: 'stop' });
    expect(printed(verdict).halt).toEqual({ halt_id: 3, reason: 'stop', expires_at: null });
  });
});

describe('the approval and the modification of a verdict', () => {
  const step = {
    type: 'tool',
    name: 'pay',
    input: { amount: 9_007_199_254_740_993n },
    output: null,
    context: null,
  };
  const lifted: RevisedVerdict = {
    is_safe: false,
    confidence: 1,
    reason: 'waits',
    matches: [],
    errors: [],
    non_matches: [],
    selected_controls: 1,
    evaluated_controls: 1,
    skipped_controls: 0,
    revision: 3,
    staleness_seconds: null,
    schema_mismatch: null,
    outcome: 'modify',
    decision_id: 'd',
    approval: {
      id: 7,
      state: 'approved',
      expiresAtMs: 1_795_687_224_000,
      stepSha256: 'ab',
      controls: [{ id: 3, name: 'payments' }],
    },
    modification: {
      step,
      patch: [
        { op: 'replace', path: '/input/amount', value: 9_007_199_254_740_993n },
        { op: 'remove', path: '/input/a~1b' },
      ],
      controlIds: [3],
    },
  };
  const APPROVAL = {
    id: 7,
    state: 'approved',
    expires_at: '2026-11-26T10:00:24Z',
    step_sha256: 'ab',
    controls: [{ control_id: 3, control_name: 'payments' }],
  };
  const STEP_JSON =
    '{"type":"tool","name":"pay","input":{"amount":9007199254740993},"output":null,"context":null}';

  it('are printed if the caller accepts outcomes, with all digits of numbers', () => {
    const text = printVerdict(lifted, true).toString();
    const patch =
      '[{"op":"replace","path":"/input/amount","value":9007199254740993},{"op":"remove","path":"/input/a~1b"}]';
    const modification = `{"patch":${patch},"step_json":${JSON.stringify(STEP_JSON)},"control_ids":[3]}`;
    expect(text.slice(text.indexOf(',"approval"'))).toBe(
      `,"approval":${JSON.stringify(APPROVAL)},"modification":${modification}}`,
    );
    expect(printVerdict(lifted, false).toString()).not.toContain('approval');
  });

  it('are in the message, where a large number of the patch is text', () => {
    const { approval, modification } = toJson(EvaluateResponseSchema, verdictMessage(lifted), {
      useProtoFieldName: true,
    }) as JsonObject;
    expect(approval).toEqual({ ...APPROVAL, state: 'APPROVAL_STATE_APPROVED' });
    expect(modification).toEqual({
      patch: [
        { op: 'replace', path: '/input/amount', value: '9007199254740993' },
        { op: 'remove', path: '/input/a~1b' },
      ],
      step_json: STEP_JSON,
      control_ids: [3],
    });
  });
});

/** In the order of the contract, with every declared member. */
function asJson(verdict: Verdict): JsonObject {
  const { is_safe, confidence: sure, reason, matches, errors, non_matches } = verdict;
  const lists = [matches, errors, non_matches].map((list) => list.map(itemAsJson));
  return {
    is_safe,
    confidence: sure,
    reason,
    matches: lists[0] as JsonObject[],
    errors: lists[1] as JsonObject[],
    non_matches: lists[2] as JsonObject[],
  };
}

function itemAsJson(item: ControlResult): JsonObject {
  const { control_execution_id, control_id, control_name, action, steering_context: steering } = item;
  const { matched, confidence: sure, message, metadata: facts, error } = item.result;
  return {
    control_execution_id,
    control_id,
    control_name,
    action,
    result: { matched, confidence: sure, message, metadata: facts, error },
    steering_context:
      steering === null
        ? null
        : { message: steering.message, required_actions: [...(steering.required_actions ?? [])] },
  };
}
