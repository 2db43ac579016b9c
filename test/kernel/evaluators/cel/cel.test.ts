import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import { parseJson } from '../../../../packages/exact-json/src/index.js';
import type { CheckCall } from '../../../../src/kernel/core/evaluator.js';
import type { EvaluatorResult, Verdict } from '../../../../src/kernel/core/types.js';
import { celEvaluator } from '../../../../src/kernel/evaluators/cel/cel.js';
import { FULL_CALL } from '../../../support/check-call.js';
import { aDefinition, aLeaf, aProgram, aStep } from '../../core/support.js';

const TIME = Date.UTC(2026, 10, 26, 12, 0, 0);

function callOf(step: Partial<CheckCall['step']> = {}, more: Partial<CheckCall> = {}): CheckCall {
  return {
    ...FULL_CALL,
    step: aStep(step),
    stage: 'post',
    agent: { name: 'billing-bot-01', metadata: { team: 'red', level: 3 } },
    nowMs: () => TIME,
    ...more,
  };
}

function check(
  expression: string,
  input: JsonValue = {},
  {
    data = null,
    call = callOf({ input }),
    on_missing,
  }: { data?: JsonValue; call?: CheckCall; on_missing?: string } = {},
): EvaluatorResult {
  const config: JsonObject = { expression, ...(on_missing === undefined ? {} : { on_missing }) };
  return celEvaluator.compile(config).evaluate(data, call) as EvaluatorResult;
}

/** The messages of the issues of a configuration. */
function refusals(config: JsonObject): string[] {
  const { error } = celEvaluator.configSchema.safeParse(config, { reportInput: true });
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('the evaluator cel', () => {
  it.each<[string, JsonValue, boolean]>([
    ["input.amount > 1000 && !input.to.endsWith('@example.com')", { amount: 1_001, to: 'a@b.c' }, true],
    [
      "input.amount > 1000 && !input.to.endsWith('@example.com')",
      { amount: 1_001, to: 'a@example.com' },
      false,
    ],
    ["input.amount > 1000 && !input.to.endsWith('@example.com')", { amount: 1_000, to: 'a@b.c' }, false],
    ['input.items.exists(item, item.price > 10.5)', { items: [{ price: 1 }, { price: 11 }] }, true],
    ["has(input.to) && input.to.matches('^[a-z]+$')", { to: 'abc' }, true],
    ['has(input.to)', {}, false],
    ["cidr('10.0.0.0/8').containsIP(input.host)", { host: '10.1.2.3' }, true],
    ["'b' in input.tags", { tags: ['a', 'b'] }, true],
  ])('answers %s', (expression, input, matched) => {
    expect(check(expression, input)).toMatchObject({ matched, confidence: 1, error: null });
  });

  it.each<[string]>([
    ["type == 'tool'"],
    ["name == 'search'"],
    ["stage == 'post'"],
    ["agent.name == 'billing-bot-01'"],
    ["agent.metadata.team == 'red' && agent.metadata.level >= 3"],
    ["value == 'selected'"],
    ["context.user == 'u-1'"],
    ['output == 7'],
    ["now == timestamp('2026-11-26T12:00:00Z')"],
    ["now - timestamp('2026-11-26T11:00:00Z') == duration('1h')"],
    ['now.getHours() == 12'],
  ])('reads %s of an evaluation', (expression) => {
    const call = callOf({ output: 7, context: { user: 'u-1' } });
    expect(check(expression, {}, { data: 'selected', call })).toMatchObject({ matched: true, error: null });
  });

  it('compares integers that no double holds', () => {
    const input = parseJson('{"id": 9007199254740993}') as JsonObject;
    expect(check('input.id == 9007199254740993', input).matched).toBe(true);
    expect(check('input.id == 9007199254740992', input).matched).toBe(false);
    const huge = parseJson('{"id": 18446744073709551617}') as JsonObject;
    expect(check('input.id > 9223372036854775807', huge).matched).toBe(true);
  });

  it('says what is true or false, and keeps the expression in the metadata', () => {
    expect(check('input.amount > 1', { amount: 2 })).toEqual({
      matched: true,
      confidence: 1,
      message: 'input.amount > 1 is true',
      metadata: { expression: 'input.amount > 1' },
      error: null,
    });
    expect(check('input.amount > 1', { amount: 1 }).message).toBe('input.amount > 1 is false');
  });

  it('gives the same object for the same result', () => {
    const compiled = celEvaluator.compile({ expression: 'input.amount > 1', on_missing: 'match' });
    const results = (input: JsonObject) => compiled.evaluate(null, callOf({ input }));
    expect(results({ amount: 2 })).toBe(results({ amount: 3 }));
    expect(results({ amount: 0 })).toBe(compiled.usual);
    expect(results({})).toBe(results({ other: 1 }));
  });
});

describe('a member that is missing', () => {
  it('is an error, which names it', () => {
    expect(check('input.amount > 1')).toMatchObject({
      matched: false,
      error: 'input.amount is missing',
    });
  });

  it.each([
    ['match', true, 'input.amount is missing, which counts as a match'],
    ['no_match', false, 'input.amount is missing, which counts as no match'],
  ])('counts as %s where the configuration says so', (on_missing, matched, message) => {
    expect(check('input.amount > 1', {}, { on_missing })).toMatchObject({ matched, message, error: null });
  });

  it('has no effect where another term decides', () => {
    expect(check("input.amount > 1 || name == 'search'")).toMatchObject({ matched: true, error: null });
  });

  it.each(['match', 'no_match'])('is the only error that on_missing %s decides', (on_missing) => {
    for (const expression of ['input.amount / input.zero > 1', 'input.text > 3']) {
      const result = check(expression, { amount: 1, zero: 0, text: 'x' }, { on_missing });
      expect(result.matched).toBe(false);
      expect(result.error).not.toBeNull();
    }
  });

  it('is one of the context of a step without a context', () => {
    expect(check("context.user == 'u-1'", {}, { on_missing: 'match' })).toMatchObject({ matched: true });
  });

  it('is the result of the check before not inverts it', () => {
    const leaf = (on_missing: string) => aLeaf('cel', { expression: 'input.amount > 1', on_missing });
    const isSafe = (on_missing: string) =>
      (
        aProgram([aDefinition({ not: leaf(on_missing) })]).evaluate(
          aStep({ input: {} }),
          'pre',
          'verdict',
        ) as Verdict
      ).is_safe;
    expect([isSafe('match'), isSafe('no_match'), isSafe('error')]).toEqual([true, false, false]);
  });
});

describe('what an expression reads of the agent', () => {
  const lacking = (expression: string, agent: CheckCall['agent']) =>
    check(expression, {}, { call: callOf({}, { agent }), on_missing: 'no_match' });

  it('is an error where it is not known, whatever on_missing says', () => {
    expect(lacking("agent.name == 'x'", null).error).toBe('the agent is not known here');
    expect(lacking("agent.metadata.team == 'x'", { name: 'a', metadata: null }).error).toBe(
      'the metadata of the agent are not known here',
    );
    expect(lacking("'x' in agent", { name: 'a', metadata: null }).error).toBe(
      'the metadata of the agent are not known here',
    );
  });

  it('is told to the program', () => {
    const readings = ['true || input.a', "agent.name == 'x'", "agent.metadata.team == 'x'"].map(
      (expression) => aProgram([aDefinition(aLeaf('cel', { expression }))]).readsAgent,
    );
    expect(readings).toEqual(['nothing', 'name', 'metadata']);
  });

  it('is missing where the metadata lack it', () => {
    expect(lacking("agent.metadata.team == 'x'", { name: 'a', metadata: {} })).toMatchObject({
      matched: false,
      error: null,
    });
  });
});

describe('equalities that an expression demands', () => {
  it('leave a control out for other steps, with the verdict that it would have', () => {
    const expression = "name == 'pay' && input.amount > 10";
    const program = aProgram([aDefinition(aLeaf('cel', { expression }))]);
    const other = aStep({ input: {} });
    expect(program.evaluate(other, 'pre', 'verdict')).toMatchObject({
      is_safe: true,
      confidence: 1,
      selected_controls: 1,
      evaluated_controls: 1,
    });
    expect(program.evaluate(other, 'pre', 'full')).toMatchObject({
      is_safe: true,
      non_matches: [{ result: { message: `${expression} is false`, error: null } }],
    });
    const right = aStep({ name: 'pay', input: { amount: 11 } });
    expect(program.evaluate(right, 'pre', 'verdict')).toMatchObject({ is_safe: false });
  });
});

describe('a configuration', () => {
  it.each<[string, JsonObject, string]>([
    ['no expression', {}, 'expression: '],
    ['a number for it', { expression: 1 }, 'expression: must be a string'],
    ['an unknown outcome', { expression: 'true', on_missing: 'skip' }, 'on_missing: '],
    ['no CEL', { expression: 'input.amount >' }, 'expression: at character '],
    ['an unknown variable', { expression: 'inptu.amount > 1' }, 'expression: at character 1: '],
    ['a result that is no boolean', { expression: 'size(name)' }, 'expression: at character '],
    ['a comparison of a text with a number', { expression: 'name > 3' }, 'expression: at character '],
    ['an unknown function', { expression: "name.startWith('a')" }, 'expression: at character '],
    ['a pattern that is none', { expression: "name.matches('(')" }, 'expression: at character '],
    [
      'a pattern that is not constant',
      { expression: 'name.matches(input.pattern)' },
      'expression: at character ',
    ],
    [
      'a text that is too long',
      { expression: `name == '${'x'.repeat(4_100)}'` },
      'expression: at character ',
    ],
  ])('is refused with %s', (_what, config, beginning) => {
    const [first = ''] = refusals(config);
    expect(first.slice(0, beginning.length)).toBe(beginning);
  });

  it('is refused with what may be meant', () => {
    expect(refusals({ expression: 'inptu.amount > 1' })[0]).toContain('did you mean "input"?');
    expect(refusals({ expression: "agent.nmae == 'x'" })[0]).toContain('did you mean "name"?');
  });

  it('has a warning where it is true or false for every step', () => {
    const warned = (expression: string) =>
      [
        ...(celEvaluator.warningsFor?.(
          { expression },
          { selectorPath: '*', positive: true, beforeSteps: false },
        ) ?? []),
      ].map(({ code }) => code);
    expect(warned('true || input.a')).toEqual(['always_matches']);
    expect(warned("name == 'a' && name == 'b'")).toEqual(['never_matches']);
    expect(warned('input.a == 1')).toEqual([]);
  });

  it('has a warning where on_missing changes nothing', () => {
    const warned = (expression: string) => [
      ...(celEvaluator.warningsFor?.(
        { expression, on_missing: 'match' },
        { selectorPath: '*', positive: true, beforeSteps: false },
      ) ?? []),
    ];
    expect(warned("name == 'a'")).toMatchObject([{ code: 'no_effect', path: ['on_missing'] }]);
    expect(warned('input.a == 1')).toEqual([]);
  });

  it('costs more to compile the longer it is, and nothing where it is refused', () => {
    const cost = (expression: string) => celEvaluator.compileCost?.({ expression }) ?? 0;
    expect(cost('input.a == 1 || input.b == 1')).toBeGreaterThan(cost('input.a == 1'));
    expect(cost('x'.repeat(5_000))).toBe(0);
  });
});

describe('the values of the parts of an expression', () => {
  it('are those of one evaluation, with their places', () => {
    const { trace } = celEvaluator.compile({ expression: 'input.amount > 10 && input.to == 1' });
    const parts = trace?.(null, callOf({ input: { amount: 5, to: 1 } })) ?? [];
    const [whole] = parts;
    expect(whole).toMatchObject({ start: 0, end: 34, value: false, error: null });
    expect(parts).toContainEqual({ start: 0, end: 12, text: 'input.amount', value: 5, error: null });
    const right = parts.find(({ text }) => text === 'input.to == 1');
    expect(right).toMatchObject({ value: undefined, error: null });
  });
});
