import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import type { EvaluatorResult, Verdict } from '../../../src/kernel/core/types.js';
import type { ControlFailure } from './compile-program.js';
import { aDefinition, aLeaf, aProgram, aResult, aStep, fakeEvaluator, idsOf, verdictOf } from './support.js';

const INTERNAL = 'Internal evaluator error';
const TIMED_OUT = 'Evaluator timed out';

const failingWith = (thrown: unknown) =>
  fakeEvaluator('failing', () => {
    throw thrown;
  });
const answering = (answer: unknown) => fakeEvaluator('odd', () => answer as EvaluatorResult);
const traceOf = (verdict: Verdict) => verdict.errors[0]?.result.metadata?.condition_trace as JsonObject;

describe('a failing evaluator', () => {
  it.each<[unknown, string]>([
    [new Error('password is hunter2'), INTERNAL],
    [new Error('the TimeOut of 10 s was exceeded'), TIMED_OUT],
    ['request timeout', TIMED_OUT],
    ['text', INTERNAL],
    [undefined, INTERNAL],
    [Object.create(null), INTERNAL],
  ])('becomes an error with a fixed text: %o', (thrown, text) => {
    const verdict = verdictOf([aDefinition(aLeaf('failing'))], aStep(), {
      evaluators: [failingWith(thrown)],
    });
    expect(verdict).toMatchObject({ is_safe: false, confidence: 0, matches: [], non_matches: [] });
    expect(verdict.errors[0]?.result).toMatchObject({
      matched: false,
      confidence: 0,
      message: text,
      error: text,
    });
    expect(traceOf(verdict)).toMatchObject({
      type: 'leaf',
      matched: false,
      confidence: 0,
      error: text,
      message: text,
    });
    expect(JSON.stringify(verdict)).not.toContain('hunter2');
  });

  it('has fixed texts at every level of the trace', () => {
    const failsInside = { not: { or: [aLeaf('regex', { pattern: 'zz' }), aLeaf('failing')] } };
    const definition = aDefinition({ and: [failsInside, aLeaf('regex', { pattern: '' })] });
    const evaluators = [failingWith(new Error('secret'))];
    const verdict = verdictOf([definition], aStep(), { evaluators });
    expect(traceOf(verdict)).toMatchObject({
      type: 'and',
      matched: null,
      short_circuit_reason: 'error',
      children: [
        {
          type: 'not',
          matched: null,
          children: [
            {
              type: 'or',
              matched: null,
              short_circuit_reason: 'error',
              children: [
                { matched: false, error: null },
                { error: INTERNAL, message: INTERNAL },
              ],
            },
          ],
        },
        { type: 'leaf', evaluated: false, short_circuit_reason: 'error' },
      ],
    });
    expect(JSON.stringify(verdict)).not.toContain('secret');
  });

  it('may report itself that it failed, and then never matches', () => {
    const odd = answering(aResult({ matched: true, error: 'connection refused', metadata: { host: 'h' } }));
    const verdict = verdictOf([aDefinition(aLeaf('odd'))], aStep(), { evaluators: [odd] });
    expect(verdict.errors[0]?.result).toMatchObject({
      matched: false,
      confidence: 0,
      error: INTERNAL,
      metadata: { host: 'h' },
    });
  });

  it('counts as failed with an empty error text too', () => {
    const odd = answering(aResult({ error: '' }));
    expect(verdictOf([aDefinition(aLeaf('odd'))], aStep(), { evaluators: [odd] }).errors).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['a boolean', true],
    ['matched is a text', aResult({ matched: 'true' as unknown as boolean })],
    ['matched is missing', { ...aResult(), matched: undefined }],
    ['confidence above 1', aResult({ confidence: 1.01 })],
    ['confidence below 0', aResult({ confidence: -0.01 })],
    ['confidence is NaN', aResult({ confidence: Number.NaN })],
    ['confidence is a text', { ...aResult(), confidence: '1' }],
    ['message is a number', { ...aResult(), message: 5 }],
    ['metadata is a list', { ...aResult(), metadata: [] }],
    ['metadata is a text', { ...aResult(), metadata: 'm' }],
    ['error is missing', { ...aResult(), error: undefined }],
  ])('a malformed result is an error: %s', (_case, answer) => {
    for (const detail of ['full', 'verdict'] as const) {
      const verdict = verdictOf([aDefinition(aLeaf('odd'))], aStep(), {
        evaluators: [answering(answer)],
        detail,
      });
      expect(verdict).toMatchObject({
        is_safe: false,
        matches: [],
        errors: [{ result: { error: INTERNAL } }],
      });
    }
  });

  it('is reported with what really went wrong', () => {
    const failures: ControlFailure[] = [];
    const definition = aDefinition(aLeaf('failing'));
    const program = aProgram([definition], [failingWith(new Error('secret'))], {
      onFailure: (failure) => failures.push(failure),
    });
    void program.evaluate(aStep(), 'pre', 'verdict');
    expect(failures).toEqual([
      { controlId: 1, controlName: 'control-1', problem: 'evaluator failing: secret' },
    ]);
  });

  it('is an error even when reporting it fails', () => {
    const program = aProgram([aDefinition(aLeaf('failing'))], [failingWith(new Error('x'))], {
      onFailure: () => {
        throw new Error('log is full');
      },
    });
    expect(program.evaluate(aStep(), 'pre', 'verdict')).toMatchObject({ errors: [{ control_id: 1 }] });
  });

  it('is no error where an earlier child made it superfluous', () => {
    const condition = { or: [aLeaf('regex', { pattern: '' }), aLeaf('failing')] };
    const verdict = verdictOf([aDefinition(condition)], aStep(), {
      evaluators: [failingWith(new Error('x'))],
    });
    expect(verdict).toMatchObject({ errors: [], matches: [{ control_id: 1 }] });
  });
});

describe('an evaluator that is not installed', () => {
  it.each<[string, string]>([
    ['vendor.model', INTERNAL],
    ['some-agent:check', INTERNAL],
    ['toString', INTERNAL],
    ['my-timeout-check', TIMED_OUT],
  ])('%s is an error at evaluation', (name, text) => {
    const verdict = verdictOf([aDefinition(aLeaf(name, { anything: 1 }))]);
    expect(verdict).toMatchObject({ is_safe: false, errors: [{ result: { error: text, message: text } }] });
    expect(traceOf(verdict)).toMatchObject({ evaluator_name: name, error: text });
  });
});

describe('an asynchronous evaluator', () => {
  const slow = fakeEvaluator('slow', async (config) => {
    await Promise.resolve();
    if (config.fails === true) throw new Error('gone');
    return aResult({ matched: config.matched === true, confidence: 0.5 });
  });
  const quick = (pattern: string) => aLeaf('regex', { pattern });
  const wait = async (conditions: readonly JsonObject[], options = {}) => {
    const program = aProgram(
      conditions.map((condition) => aDefinition(condition, 'observe')),
      [slow],
      options,
    );
    const verdict = program.evaluate(aStep(), 'pre', 'full');
    expect(verdict).toBeInstanceOf(Promise);
    return verdict;
  };

  it('makes the verdict a promise with the same order of lists', async () => {
    const yes = aLeaf('slow', { matched: true });
    const verdict = await wait([quick('hello'), yes, quick('hello'), yes, quick('zz'), aLeaf('slow', {})]);
    expect(idsOf(verdict.matches)).toEqual([4, 3, 2, 1]);
    expect(idsOf(verdict.non_matches)).toEqual([6, 5]);
  });

  it('is walked like any other child of a tree', async () => {
    const yes = aLeaf('slow', { matched: true });
    const verdict = await wait([
      { and: [quick('hello'), yes, quick('hello'), { not: aLeaf('slow', {}) }] },
      { or: [quick('zz'), aLeaf('slow', {}), yes, quick('hello')] },
    ]);
    expect(idsOf(verdict.matches)).toEqual([2, 1]);
    expect(verdict.matches.map(({ result }) => result.confidence)).toEqual([0.5, 0.5]);
    expect(verdict.matches[0]?.result.metadata?.condition_trace).toMatchObject({
      short_circuit_reason: 'or_matched',
      children: [{ matched: false }, { matched: false }, { matched: true }, { evaluated: false }],
    });
  });

  it('becomes an error when it rejects, and never rejects the verdict', async () => {
    const verdict = await wait([{ not: aLeaf('slow', { fails: true }) }]);
    expect(verdict.errors).toMatchObject([{ control_id: 1, result: { error: INTERNAL } }]);
  });

  it('may answer with any thenable', async () => {
    const thenable = fakeEvaluator('thenable', () => {
      // A promise of another library: not an instance of Promise, which the type does not allow for.
      // biome-ignore lint/suspicious/noThenProperty: a thenable is what this test is about.
      const answer = { then: (resolve: (result: EvaluatorResult) => void) => resolve(aResult()) };
      return answer as unknown as Promise<EvaluatorResult>;
    });
    const verdict = await aProgram([aDefinition(aLeaf('thenable'))], [thenable]).evaluate(
      aStep(),
      'pre',
      'verdict',
    );
    expect(idsOf(verdict.matches)).toEqual([1]);
  });

  it('is an error when its promised answer is malformed', async () => {
    const odd = fakeEvaluator('odd', () => Promise.resolve(null as unknown as EvaluatorResult));
    const verdict = await aProgram([aDefinition(aLeaf('odd'))], [odd]).evaluate(aStep(), 'pre', 'verdict');
    expect(verdict.errors).toHaveLength(1);
  });

  it('gets its time limit from the mechanism that it is given', async () => {
    const limits: number[] = [];
    const hanging = fakeEvaluator('hanging', () => new Promise<EvaluatorResult>(() => {}));
    const withTimeout = <T>(_promise: Promise<T>, milliseconds: number): Promise<T> => {
      limits.push(milliseconds);
      return Promise.reject(new Error(`Timeout after ${milliseconds} ms`));
    };
    const program = aProgram([aDefinition(aLeaf('hanging'))], [hanging], { withTimeout });
    const verdict = await program.evaluate(aStep(), 'pre', 'full');
    expect(limits).toEqual([1_234]);
    expect(verdict).toMatchObject({ is_safe: false, errors: [{ result: { error: TIMED_OUT } }] });
  });

  it('does not make others wait: synchronous controls need no promise', () => {
    const verdict = aProgram([aDefinition(quick('hello'))], [slow]).evaluate(aStep(), 'pre', 'verdict');
    expect(verdict).not.toBeInstanceOf(Promise);
  });

  it('runs beside the asynchronous evaluators of other controls', async () => {
    const started: string[] = [];
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const gated = fakeEvaluator('gated', async (config) => {
      started.push(String(config.id));
      await gate;
      return aResult();
    });
    const definitions = ['a', 'b', 'c'].map((id): JsonValue => aDefinition(aLeaf('gated', { id })));
    const verdict = aProgram(definitions, [gated]).evaluate(aStep(), 'pre', 'verdict');
    expect(started).toEqual(['c', 'b', 'a']);
    release();
    expect(idsOf((await verdict).matches)).toEqual([3, 2, 1]);
  });
});

describe('selected data', () => {
  it('are looked up once per evaluation, however many leaves share a path', () => {
    let reads = 0;
    const context = {};
    Object.defineProperty(context, 'a', {
      enumerable: true,
      get: () => {
        reads += 1;
        return 'hello';
      },
    });
    const leaf = aLeaf('regex', { pattern: 'hello' }, 'context.a');
    const definitions = [aDefinition({ and: [leaf, leaf] }), aDefinition(leaf)];
    const program = aProgram(definitions);
    expect(program.evaluate(aStep({ context }), 'pre', 'verdict')).toMatchObject({ is_safe: false });
    expect(reads).toBe(1);
    void program.evaluate(aStep({ context }), 'pre', 'verdict');
    expect(reads).toBe(2);
  });
});
