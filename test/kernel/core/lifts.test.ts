import { describe, expect, it } from 'vitest';
import { type JsonObject, type JsonValue, parseJson } from '../../../packages/exact-json/src/index.js';
import type { Evaluator } from '../../../src/kernel/core/evaluator.js';
import type { ChangedStep, UnchangeableStep } from '../../../src/kernel/core/lift.js';
import type { ControlProgram, Step, Verdict } from '../../../src/kernel/core/types.js';
import { liftedVerdict } from '../../../src/kernel/core/verdict.js';
import { aDefinition, aLeaf, aProgram, aResult, aStep, fakeEvaluator, idsOf } from './support.js';

const hello = aLeaf('regex', { pattern: 'hello' }, 'input');
const never = aLeaf('regex', { pattern: 'goodbye' }, 'input');

const asking = (condition: JsonObject = hello, approval: JsonObject = {}): JsonObject => ({
  execution: 'server',
  condition,
  scope: { stages: ['pre'] },
  action: { decision: 'deny', approval: { approvers: ['role:approver'], ...approval } },
});

const changing = (modify: JsonValue, condition: JsonObject = hello): JsonObject => ({
  execution: 'server',
  condition,
  action: { decision: 'deny', modify },
});

const redact = (path: string, text = '[redacted]'): JsonObject => ({ path, replace: 'matches', with: text });

function verdictOf(program: ControlProgram, step: Step = aStep(), lifted?: ReadonlySet<number>): Verdict {
  const verdict = program.evaluate(step, 'pre', 'verdict', undefined, 0, null, null, lifted);
  if (verdict instanceof Promise) throw new Error('no evaluator was asynchronous');
  return verdict;
}

const withWork = fakeEvaluator('failing', () => {
  throw new Error('broken');
});

describe('a control that asks', () => {
  it('denies, and is all that is left to do', () => {
    const program = aProgram([asking(), aDefinition(never)]);
    const verdict = verdictOf(program);
    expect(verdict.is_safe).toBe(false);
    expect(verdict.reason).toContain('control-1');
    const lifts = program.lifts?.of(verdict);
    expect(lifts?.changing).toEqual([]);
    expect(lifts?.asking).toEqual([
      {
        id: 1,
        name: 'control-1',
        definitionHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        approval: {
          approvers: ['role:approver'],
          quorum: 1,
          expiresSeconds: 3_600,
          bind: 'step',
          reuse: 'once',
          question: null,
          separate: true,
        },
      },
    ]);
  });

  it.each<[string, JsonObject, readonly Evaluator[]]>([
    ['a deny control that matches', aDefinition(hello), []],
    ['a steer control that matches', aDefinition(hello, 'steer'), []],
    ['a deny control that fails', aDefinition(aLeaf('failing')), [withWork]],
    ['a damaged deny control', { execution: 'server', action: { decision: 'deny' } }, []],
    ['a deny control whose scope fails', aDefinition(never, 'deny', { scope: { step_name_regex: '(' } }), []],
  ])('is not asked beside %s, whatever the order of ids', (_what, other, evaluators) => {
    for (const definitions of [
      [asking(), other],
      [other, asking()],
    ]) {
      const program = aProgram(definitions, evaluators);
      const verdict = verdictOf(program);
      expect(verdict.is_safe).toBe(false);
      expect(program.lifts?.of(verdict)).toBeNull();
      for (const id of [1, 2]) expect(verdictOf(program, aStep(), new Set([id])).is_safe).toBe(false);
    }
  });

  it('does not stop external checks: a deny of one of them wins', async () => {
    for (const matched of [true, false]) {
      let calls = 0;
      const answer = async () => {
        calls += 1;
        return aResult({ matched });
      };
      const model = fakeEvaluator('model', answer, { external: true });
      for (const definitions of [
        [asking(), aDefinition(aLeaf('model'))],
        [aDefinition(aLeaf('model')), asking()],
      ]) {
        const program = aProgram(definitions, [model]);
        calls = 0;
        const verdict = await program.evaluate(aStep(), 'pre', 'verdict');
        expect(calls).toBe(1);
        expect(program.lifts?.of(verdict) === null).toBe(matched);
      }
    }
  });

  it('does not make a step unsafe once it is lifted, and stays a match', () => {
    const program = aProgram([asking(), aDefinition(never), asking(), aDefinition(hello, 'observe')]);
    const verdict = verdictOf(program);
    expect(program.lifts?.of(verdict)?.asking.map(({ id }) => id)).toEqual([1, 3]);
    for (const ids of [[1], [3], [1, 3], []]) {
      const lifted = new Set(ids);
      const expected = { is_safe: ids.length === 2, matches: [4, 3, 1] };
      for (const made of [verdictOf(program, aStep(), lifted), liftedVerdict(verdict, lifted)]) {
        expect({ is_safe: made.is_safe, matches: idsOf(made.matches) }).toEqual(expected);
        expect(made.reason === null).toBe(made.is_safe);
        expect(made.confidence).toBe(1);
      }
    }
  });

  it('has nothing to do about a safe verdict, nor about one without controls', () => {
    const program = aProgram([asking(never)]);
    expect(program.lifts?.of(verdictOf(program))).toBeNull();
    expect(aProgram([aDefinition(hello)]).lifts).toBeNull();
  });

  it('has another hash for another definition, and the same for the same one', () => {
    const hashes = [asking(), asking(), asking(hello, { quorum: 2 })].map(
      (definition) =>
        aProgram([definition]).lifts?.of(verdictOf(aProgram([definition])))?.asking[0]?.definitionHash,
    );
    expect(hashes[0]).toBe(hashes[1]);
    expect(hashes[0]).not.toBe(hashes[2]);
  });

  it.each<[string, JsonObject]>([
    ['no approvers', { approvers: [] }],
    ['an approver of no kind', { approvers: ['ann'] }],
    ['a quorum of no people', { quorum: 0 }],
    ['a quorum above the named approvers', { approvers: ['name:ann'], quorum: 2 }],
    ['an expiry that is too short', { expires_seconds: 9 }],
    ['a path that is none', { bind: ['amount'] }],
    ['another reuse', { reuse: 'always' }],
    ['a reuse of no time', { reuse: { seconds: 0 } }],
    ['an empty question', { question: '' }],
    ['separate as a text', { separate: 'yes' }],
  ])('fails closed when it is damaged: %s', (_what, approval) => {
    const program = aProgram([asking(never, approval)]);
    const verdict = verdictOf(program);
    expect(verdict.is_safe).toBe(false);
    expect(idsOf(verdict.errors)).toEqual([1]);
    expect(program.lifts).toBeNull();
  });

  it('fails closed outside of the stage pre and beside changes', () => {
    const { scope: _, ...everyStage } = asking(never);
    const both = asking(never);
    (both.action as JsonObject).modify = [redact('input')];
    for (const damaged of [everyStage, both]) expect(verdictOf(aProgram([damaged])).is_safe).toBe(false);
  });
});

const change = async (
  definitions: readonly JsonValue[],
  step: Step,
  evaluators: readonly Evaluator[] = [],
): Promise<ChangedStep | UnchangeableStep> => {
  const program = aProgram(definitions, evaluators);
  const stage = step.output === null ? 'pre' : 'post';
  const lifts = program.lifts?.of(await program.evaluate(step, stage, 'verdict'));
  if (!lifts || program.lifts === null) throw new Error('the step is not denied by liftable controls alone');
  return program.lifts.change(step, stage, lifts.changing);
};

describe('a control that changes steps', () => {
  it('replaces what its checks find, and nothing else', async () => {
    const input = parseJson(
      '{"q":"hello, hello","n":1.10,"list":["hello",12345678901234567890],"hello":true}',
    );
    const made = await change([changing([redact('input', 'X')])], aStep({ input, context: { q: 'hello' } }));
    expect(made).toEqual({
      step: aStep({
        input: parseJson('{"q":"X, X","n":1.10,"list":["X",12345678901234567890],"hello":true}'),
        context: { q: 'hello' },
      }),
      patch: [
        { op: 'replace', path: '/input/q', value: 'X, X' },
        { op: 'replace', path: '/input/list/0', value: 'X' },
      ],
    });
  });

  it('replaces and removes whole members', async () => {
    const modify = [
      { path: 'input.a/b~c', replace: 'value', with: '***' },
      { path: 'context.headers.authorization', remove: true },
      { path: 'input.none', remove: true },
    ];
    const step = aStep({
      input: { q: 'hello', 'a/b~c': [1, 2] },
      context: { headers: { authorization: 'Bearer x', other: 'y' } },
    });
    expect(await change([changing(modify)], step)).toEqual({
      step: aStep({ input: { q: 'hello', 'a/b~c': '***' }, context: { headers: { other: 'y' } } }),
      patch: [
        { op: 'replace', path: '/input/a~1b~0c', value: '***' },
        { op: 'remove', path: '/context/headers/authorization' },
      ],
    });
  });

  it('merges overlapping places, with the replacement of the first control', async () => {
    const place = (pattern: string, text: string) =>
      changing([redact('input.q', text)], aLeaf('regex', { pattern }, 'input.q'));
    const step = aStep({ input: { q: 'abcdefghij' } });
    expect(await change([place('def', '2'), place('bcd', '1'), place('h', '3')], step)).toMatchObject({
      step: { input: { q: 'a2g3ij' } },
    });
  });

  it('cannot change a step whose match has no place', async () => {
    const number = aStep({ input: { q: 12345 } });
    const digits = changing([redact('input')], aLeaf('regex', { pattern: '234' }, 'input'));
    expect(await change([digits], number)).toEqual({ problem: expect.stringContaining('control-1') });
    const elsewhere = changing([redact('context.note')]);
    expect(await change([elsewhere], aStep({ context: { note: 'hello' } }))).toEqual({
      problem: expect.stringContaining('nothing in the step'),
    });
  });
});
