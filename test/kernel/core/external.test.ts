import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import type { CheckCall } from '../../../src/kernel/core/evaluator.js';
import type { EvaluatorResult, Verdict } from '../../../src/kernel/core/types.js';
import type { ControlFailure } from './compile-program.js';
import { aDefinition, aLeaf, aProgram, aResult, aStep, fakeEvaluator, idsOf } from './support.js';

interface Check {
  readonly signal: AbortSignal;
  answer(result: EvaluatorResult): void;
  fail(error: Error): void;
}

/** Evaluators whose checks answer when the test says so. Checks are found by the member `id` of their configuration. */
function scene() {
  const begun: string[] = [];
  const checks = new Map<string, Check>();
  const check = (id: JsonValue | undefined, call: CheckCall): Promise<EvaluatorResult> => {
    begun.push(String(id));
    return new Promise((resolve, reject) => {
      checks.set(String(id), { signal: call.signal, answer: resolve, fail: reject });
    });
  };
  return {
    begun,
    evaluators: [
      fakeEvaluator('model', ({ id }, _data, call) => check(id, call), { external: true }),
      fakeEvaluator('slow', ({ id }, _data, call) => check(id, call)),
      fakeEvaluator('quick-model', ({ matched }) => aResult({ matched: matched === true }), {
        external: true,
      }),
    ],
    check(id: string): Check {
      const found = checks.get(id);
      if (found === undefined) throw new Error(`${id} has not begun`);
      return found;
    },
  };
}

const model = (id: string) => aLeaf('model', { id });
const slow = (id: string) => aLeaf('slow', { id });
const hello = aLeaf('regex', { pattern: 'hello' });
const goodbye = aLeaf('regex', { pattern: 'goodbye' });
const turn = () => new Promise((resolve) => setImmediate(resolve));
const listed = (verdict: Verdict) =>
  idsOf([...verdict.matches, ...verdict.errors, ...verdict.non_matches]).sort((left, right) => left - right);

describe('an external evaluator', () => {
  it('is called when all local controls have been evaluated, whatever their ids', async () => {
    const { begun, evaluators, check } = scene();
    const order: string[] = [];
    const local = fakeEvaluator('local', () => {
      order.push(`local after ${begun.length} external`);
      return aResult({ matched: false });
    });
    const definitions = [aDefinition(aLeaf('local')), aDefinition(model('a'))];
    const verdict = aProgram(definitions, [...evaluators, local]).evaluate(aStep(), 'pre', 'full');
    expect(order).toEqual(['local after 0 external']);
    expect(begun).toEqual(['a']);
    check('a').answer(aResult());
    expect(await verdict).toMatchObject({ is_safe: false, matches: [{ control_id: 2 }] });
  });

  it.each(['before', 'after'])('is not called when a local deny matches, its id coming %s', (place) => {
    const { begun, evaluators } = scene();
    const external = aDefinition(model('a'));
    const definitions = place === 'before' ? [aDefinition(hello), external] : [external, aDefinition(hello)];
    const verdict = aProgram([...definitions, aDefinition(goodbye)], evaluators).evaluate(
      aStep(),
      'pre',
      'full',
    );
    expect(verdict).not.toBeInstanceOf(Promise);
    expect(begun).toEqual([]);
    expect(listed(verdict as Verdict)).toEqual([place === 'before' ? 1 : 2, 3]);
    expect(verdict).toMatchObject({ is_safe: false, confidence: 1 });
  });

  it.each(['steer', 'observe'] as const)('is called although a local %s matches', async (decision) => {
    const { evaluators, check } = scene();
    const definitions = [aDefinition(hello, decision), aDefinition(model('a'), 'observe')];
    const verdict = aProgram(definitions, evaluators).evaluate(aStep(), 'pre', 'full');
    check('a').answer(aResult());
    expect(idsOf((await verdict).matches)).toEqual([2, 1]);
  });

  it('is called although a local deny control failed: that is no match', async () => {
    const { evaluators, check } = scene();
    const definitions = [aDefinition(aLeaf('not-installed')), aDefinition(model('a'))];
    const verdict = aProgram(definitions, evaluators).evaluate(aStep(), 'pre', 'full');
    check('a').answer(aResult({ matched: false }));
    expect(listed(await verdict)).toEqual([1, 2]);
  });

  it('is given up when another one denies, and counts nowhere', async () => {
    const failures: ControlFailure[] = [];
    const { evaluators, check } = scene();
    const definitions = [
      aDefinition(model('a')),
      aDefinition(model('b')),
      aDefinition(model('c'), 'observe'),
    ];
    const program = aProgram(definitions, evaluators, { onFailure: (failure) => failures.push(failure) });
    const verdict = program.evaluate(aStep(), 'pre', 'full');
    check('c').answer(aResult({ matched: false }));
    await turn();
    check('a').answer(aResult());
    const given = await verdict;
    expect(given).toMatchObject({ is_safe: false, confidence: 1, matches: [{ control_id: 1 }], errors: [] });
    expect(idsOf(given.non_matches)).toEqual([3]);
    expect([check('a').signal.aborted, check('b').signal.aborted, check('c').signal.aborted]).toEqual([
      false,
      true,
      false,
    ]);
    check('b').fail(new Error('aborted'));
    await turn();
    expect(failures).toEqual([]);
  });

  it('is given up when an asynchronous local control denies, which itself always ends', async () => {
    const { evaluators, check } = scene();
    const definitions = [
      aDefinition(slow('local')),
      aDefinition(model('a')),
      aDefinition({ and: [slow('second'), model('b')] }),
      aDefinition(slow('third'), 'observe'),
    ];
    const verdict = aProgram(definitions, evaluators).evaluate(aStep(), 'pre', 'full');
    check('local').answer(aResult());
    await turn();
    expect(check('a').signal.aborted).toBe(true);
    check('second').answer(aResult());
    check('third').answer(aResult({ matched: false }));
    const given = await verdict;
    expect(listed(given)).toEqual([1, 4]);
    expect(check('third').signal.aborted).toBe(false);
  });

  it('is cancelled for every control that has an equal leaf', async () => {
    const { begun, evaluators, check } = scene();
    const definitions = [
      aDefinition(model('same')),
      aDefinition({ not: model('same') }, 'observe'),
      aDefinition(model('other')),
    ];
    const verdict = aProgram(definitions, evaluators).evaluate(aStep(), 'pre', 'full');
    expect(begun).toEqual(['other', 'same']);
    check('other').answer(aResult());
    expect(listed(await verdict)).toEqual([3]);
  });

  it('is not called where a local child of its condition decides', () => {
    const { begun, evaluators } = scene();
    const definitions = [
      aDefinition({ and: [goodbye, model('a')] }),
      aDefinition({ or: [hello, model('b')] }, 'observe'),
    ];
    const verdict = aProgram(definitions, evaluators).evaluate(aStep(), 'pre', 'full');
    expect(listed(verdict as Verdict)).toEqual([1, 2]);
    expect(begun).toEqual([]);
  });

  it('begins at once when its condition comes to it after a local check', async () => {
    const { evaluators, check, begun } = scene();
    const definitions = [aDefinition({ and: [slow('local'), model('a')] })];
    const verdict = aProgram(definitions, evaluators).evaluate(aStep(), 'pre', 'full');
    check('local').answer(aResult());
    await turn();
    expect(begun).toEqual(['local', 'a']);
    check('a').answer(aResult());
    expect(idsOf((await verdict).matches)).toEqual([1]);
  });

  it('may answer without a promise', async () => {
    const { evaluators } = scene();
    const definitions = [
      aDefinition(aLeaf('quick-model', { matched: true }), 'observe'),
      aDefinition({ and: [aLeaf('quick-model', {}), model('a')] }),
    ];
    const verdict = await aProgram(definitions, evaluators).evaluate(aStep(), 'pre', 'full');
    expect([idsOf(verdict.matches), idsOf(verdict.non_matches)]).toEqual([[1], [2]]);
  });
});

describe('the signal of a check', () => {
  it('is aborted when its time is up, and that of no other check', async () => {
    const { evaluators, check } = scene();
    const late = new Set(['late']);
    const withTimeout = <T>(promise: Promise<T>): Promise<T> =>
      late.size > 0 && late.delete('late') ? Promise.reject(new Error('timeout')) : promise;
    const definitions = [aDefinition(slow('in-time'), 'observe'), aDefinition(slow('late'))];
    const verdict = aProgram(definitions, evaluators, { withTimeout }).evaluate(aStep(), 'pre', 'full');
    check('in-time').answer(aResult());
    expect(await verdict).toMatchObject({ matches: [{ control_id: 1 }], errors: [{ control_id: 2 }] });
    expect([check('in-time').signal.aborted, check('late').signal.aborted]).toEqual([false, true]);
  });

  it('is aborted with that of the evaluation, and the verdict has the other results only', async () => {
    const { evaluators, check } = scene();
    const stop = new AbortController();
    const definitions = [aDefinition(model('a')), aDefinition(hello, 'observe'), aDefinition(model('b'))];
    const verdict = aProgram(definitions, evaluators).evaluate(aStep(), 'pre', 'full', stop);
    check('b').answer(aResult());
    await turn();
    stop.abort();
    expect(listed(await verdict)).toEqual([2, 3]);
    expect(check('a').signal.aborted).toBe(true);
  });

  it('is aborted when that of the evaluation already is, and the check is not started', async () => {
    const { evaluators, begun } = scene();
    const program = aProgram([aDefinition(model('a')), aDefinition(goodbye)], evaluators);
    const verdict = await program.evaluate(aStep(), 'pre', 'full', { signal: AbortSignal.abort() });
    expect([begun, listed(verdict)]).toEqual([[], [2]]);
  });

  it('is aborted already when it is requested afterwards', async () => {
    let told: CheckCall | undefined;
    const hanging = fakeEvaluator('hanging', (_config, _data, call) => {
      told = call;
      return new Promise(() => {});
    });
    const withTimeout = <T>(): Promise<T> => Promise.reject(new Error('timeout'));
    await aProgram([aDefinition(aLeaf('hanging'))], [hanging], { withTimeout }).evaluate(
      aStep(),
      'pre',
      'verdict',
    );
    expect(told?.signal.aborted).toBe(true);
  });

  it('is not created for checks that do not request it', () => {
    const calls = new Set<CheckCall>();
    const watching = fakeEvaluator('watching', ({ asks }, _data, call) => {
      if (asks === true) expect(call.signal.aborted).toBe(false);
      calls.add(call);
      return aResult();
    });
    const program = (config: JsonValue[]) =>
      aProgram(
        config.map((asks, id) => aDefinition(aLeaf('watching', { asks, id }))),
        [watching],
      );
    void program([false, false, false]).evaluate(aStep(), 'pre', 'verdict');
    expect(calls.size).toBe(1);
    calls.clear();
    void program([false, true, false]).evaluate(aStep(), 'pre', 'verdict');
    expect(calls.size).toBe(2);
  });

  it('comes with the detail that is requested', () => {
    const details: string[] = [];
    const watching = fakeEvaluator('watching', (_config, _data, { detail }) => {
      details.push(detail);
      return aResult();
    });
    const program = aProgram([aDefinition(aLeaf('watching'))], [watching]);
    for (const detail of ['verdict', 'full', 'verdict'] as const)
      void program.evaluate(aStep(), 'pre', detail);
    expect(details).toEqual(['verdict', 'full', 'verdict']);
  });
});
