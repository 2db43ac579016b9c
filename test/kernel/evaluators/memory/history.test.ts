import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonObject, type JsonValue, parseJson } from '../../../../packages/exact-json/src/index.js';
import { findUp } from '../../../../src/contract/runtime/package-root.js';
import type { Delta, RuleState } from '../../../../src/kernel/core/memory.js';
import { historyReducer } from '../../../../src/kernel/evaluators/memory/history-reducer.js';
import { generatedCases } from '../../../support/generated-cases.js';
import { hash } from '../../../support/simple-memory.js';
import { callOf, evaluator, HistoryRun, ruleFor, type Sent, toldAnswer } from './history.support.js';

const FORMERLY: JsonObject = { op: 'formerly', within: '1h', event: { kinds: ['request'] } };
const COUNT: JsonObject = { ...FORMERLY, op: 'count', compare: { gt: 3 } };
const SUM: JsonObject = { ...FORMERLY, op: 'sum', value: 'input.n', compare: { gt: 10 } };

const where = (...texts: string[]): JsonObject => ({
  ...FORMERLY,
  event: { kinds: ['request'], where: texts },
});

/** Fields and messages of what is wrong with a configuration. */
function problems(config: JsonObject): string[] {
  const parsed = evaluator.configSchema.safeParse(config);
  return parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('a configuration of history', () => {
  it.each<[JsonObject, RegExp]>([
    [{ ...FORMERLY, op: 'since' }, /^op: must be one of: formerly/],
    [{ op: 'formerly', event: { kinds: ['request'] } }, /^within: /],
    [{ ...FORMERLY, within: '25h' }, /^within: must be at most 1d/],
    [{ ...FORMERLY, within: '0s' }, /^within: must be a whole number above 0/],
    [{ ...FORMERLY, event: { kinds: [] } }, /^event\.kinds: must have at least 1/],
    [{ ...FORMERLY, event: { kinds: ['reply'] } }, /^event\.kinds\.0: must be one of/],
    [{ ...FORMERLY, event: {} }, /^event\.kinds: /],
    [where('event.input.a =='), /^event\.where\.0: at character 15: an operand is missing/],
    [where('true', 'event.inputs.a == 1'), /^event\.where\.1: .*did you mean "?input/],
    [where('event.kind'), /^event\.where\.0: .*(bool|result)/],
    [where('agent.name == "a"'), /^event\.where\.0: .*there is no variable "?agent/],
    [where('now > timestamp(event.input.at)'), /^event\.where\.0: .*where does not know the time/],
    [where(`${'('.repeat(40)}true${')'.repeat(40)}`), /^event\.where\.0: /],
    [where('x'.repeat(5_000)), /^event\.where\.0: /],
    [{ ...FORMERLY, op: 'not_since' }, /^anchor: is required/],
    [{ ...FORMERLY, anchor: { kinds: ['request'] } }, /^anchor: is used with the op not_since only/],
    [{ ...COUNT, compare: undefined as unknown as JsonValue }, /^compare: is required/],
    [{ ...COUNT, compare: { gt: 1, lt: 3 } }, /^compare: must have exactly one of/],
    [{ ...COUNT, compare: {} }, /^compare: must have exactly one of/],
    [{ ...COUNT, compare: { gt: 10_001 } }, /^compare: must be at most 10000/],
    [{ ...COUNT, compare: { gt: -1 } }, /^compare\.gt: must be a number from 0/],
    [{ ...COUNT, compare: { gt: 1e16 } }, /^compare\.gt: must be a number from 0/],
    [{ ...COUNT, compare: { gt: '3' } }, /^compare\.gt: must be a number from 0/],
    [{ ...COUNT, value: 'input.n' }, /^value: is used with the ops sum and distinct only/],
    [{ ...SUM, value: null }, /^value: is required/],
    [{ ...SUM, value: 'amount' }, /^value: must be a path/],
    [{ ...SUM, value: '*' }, /^value: must be a path/],
    [{ ...FORMERLY, compare: { gt: 1 } }, /^compare: is used with/],
    [{ ...FORMERLY, include_current: true }, /^include_current: is used with/],
    [{ ...FORMERLY, key: ['tenant'] }, /^key\.0: must be session, agent/],
    [
      { ...COUNT, compare: { gt: 201 }, event: { kinds: ['request'], where: ['event.input.n < input.n'] } },
      /^compare: must be at most 200, because where compares/,
    ],
  ])('%j is refused', (config, message) => {
    const found = problems(JSON.parse(JSON.stringify(config)) as JsonObject);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(message);
  });

  it.each<[JsonObject, string[]]>([
    [where('event.kind == "request" || event.input.a == 1'), []],
    [where('true'), ['no_effect event.where.0']],
    [where('input.a == 1 && input.a == 2'), ['never_matches event.where.0']],
    [{ ...COUNT, event: { kinds: ['request', 'response'] } }, ['no_effect event.kinds']],
    [{ ...SUM, value: 'output.cost' }, ['never_matches value']],
    [{ ...COUNT, compare: { gte: 0 } }, ['always_matches compare.gte']],
    [COUNT, []],
  ])('%j has these warnings: %j', (config, expected) => {
    const found = [
      ...(evaluator.warningsFor?.(config, { selectorPath: '*', positive: true, beforeSteps: false }) ?? []),
    ];
    expect(found.map(({ code, path }) => `${code} ${path.join('.')}`)).toEqual(expected);
  });

  it('keeps its state when a threshold changes a little, and begins anew with another window, key or condition', () => {
    const { fingerprint } = ruleFor(COUNT);
    expect(ruleFor({ ...COUNT, compare: { gte: 14 } }).fingerprint).toBe(fingerprint);
    for (const other of [
      { compare: { gt: 15 } },
      { within: '2h' },
      { key: ['agent'] },
      { event: { kinds: ['response'] } },
      { event: { kinds: ['request'], step_names: ['a'] } },
      { event: { kinds: ['request'], where: ['event.input.a == 1'] } },
    ]) {
      expect(ruleFor({ ...COUNT, ...other }).fingerprint).not.toBe(fingerprint);
    }
  });
});

describe('an answer of history', () => {
  it('tells the number, the limit, what remains, and when there is room again', () => {
    const run = new HistoryRun({ ...COUNT, include_current: true });
    const given = [1, 2, 3, 4].map((index) => {
      run.memory.advance(1_000_000);
      return run.send({ name: 'a', id: `${index}` });
    });
    expect(given.map(({ matched }) => matched)).toEqual([false, false, false, true]);
    expect(given.map(({ metadata }) => metadata.count)).toEqual([1, 2, 3, 4]);
    expect(given.map(({ limit }) => limit?.remaining)).toEqual([2, 1, 0, 0]);
    // The first event is in the window for one microsecond more than an hour after it.
    const retryUs = given[3]?.limit?.retryAfterUs ?? 0;
    expect(retryUs).toBe(3_600_000_000 - 3_000_000 + 1);
    run.memory.advance(retryUs - 1);
    expect(run.trial({ name: 'a' }).matched).toBe(true);
    run.memory.advance(1);
    expect(run.trial({ name: 'a' }).matched).toBe(false);
  });

  it('says since when it knows, while that is less than the window', () => {
    const run = new HistoryRun(FORMERLY);
    expect(run.send({ name: 'a' }).message).toMatch(/recorded since 20\d\d-/);
    run.memory.advance(3_600_000_000);
    expect(run.send({ name: 'a' }).message).not.toMatch(/recorded since/);
  });

  it('has no limit where the number is not bounded from above', () => {
    expect(new HistoryRun({ ...COUNT, compare: { lt: 3 } }).send({ name: 'a' }).limit).toBeNull();
    expect(new HistoryRun(FORMERLY).send({ name: 'a' }).limit).toBeNull();
  });

  it('adds decimals without an error of rounding', () => {
    const run = new HistoryRun({ ...SUM, compare: { gt: 0.3 }, include_current: true });
    const given = [0.1, 0.1, 0.1].map((n) => run.send({ name: 'a', input: { n } }).matched);
    expect(given).toEqual([false, false, false]);
    expect(run.send({ name: 'a', input: { n: 1e-9 } }).matched).toBe(true);
  });

  it('is an error where the step lacks what a term of its own reads, and names a missing part of the key', () => {
    const guarded = new HistoryRun(where('input.a == 1'));
    expect(guarded.send({ name: 'a' }).error).toBe(
      'where cannot be decided for the step: input.a is missing',
    );
    const linked = ruleFor(where('event.input.a == input.b.c'));
    expect(linked.keyOf(callOf({ name: 'a' }), hash)).toEqual({ missing: 'input.b' });
    expect(linked.keyOf(callOf({ name: 'a', session: null }), hash)).toEqual({ missing: 'session_id' });
  });

  it('needs no member that a false term makes superfluous', () => {
    const run = new HistoryRun(where('input.kind == "x" && event.input.a == input.a'));
    expect(run.send({ name: 'a', input: { kind: 'y' } })).toMatchObject({ matched: false, error: null });
  });

  it('never quotes a value of a step', () => {
    const secret = 'hunter2';
    const run = new HistoryRun({ ...where('event.input.a == input.a'), key: ['input.a'] }, true);
    const given = [1, 2].map(() => run.send({ name: 'a', input: { a: secret } }));
    const key = run.rule.keyOf(callOf({ name: 'a', input: { a: secret } }), hash);
    expect(given[1]?.matched).toBe(true);
    expect(JSON.stringify([given, key])).not.toContain(secret);
  });
});

describe('what history keeps', () => {
  const fill = (config: JsonObject, count: number, sentOf: (index: number) => Sent) => {
    const rule = ruleFor(config);
    let state: RuleState | undefined;
    const first = callOf(sentOf(0));
    const key = rule.keyOf(first, hash);
    for (let index = 0; index < count; index += 1) {
      const atUs = 1_800_000_000_000_000 + index * 1_000;
      const moment = { nowUs: atUs, sinceUs: null, isRepeated: false, stepHash: hash(`${index}`), hash };
      for (const { delta } of rule.records?.of(callOf(sentOf(index)), 'request', moment) ?? []) {
        state = historyReducer.apply(state, delta, atUs, moment.stepHash);
      }
    }
    const nowUs = 1_800_000_000_000_000 + count * 1_000;
    const moment = { nowUs, sinceUs: null, isRepeated: false, stepHash: null, hash };
    return { key, size: JSON.stringify(state ?? null).length, answer: rule.answer(state, first, moment) };
  };

  it.each<[string, JsonObject, number, object]>([
    ['formerly', FORMERLY, 200, { matched: true }],
    ['count', COUNT, 1_000, { matched: true }],
    ['sum that is exceeded', SUM, 1_000, { matched: true }],
    ['distinct', { ...SUM, op: 'distinct' }, 3_500, { matched: true }],
    ['sum that is not exceeded', { ...SUM, compare: { gt: 1e9 } }, 300_000, { matched: false }],
    [
      'mixed terms',
      where('event.input.n > input.n + 1e6'),
      20_000,
      { error: expect.stringMatching(/do not decide/) },
    ],
    ['mixed terms that hold', where('event.input.n > input.n'), 20_000, { matched: true }],
  ])('stays small over 100,000 events of a key: %s', (_name, config, most, expected) => {
    const { size, answer } = fill(config, 100_000, (index) => ({ name: 'a', input: { n: index % 97 } }));
    expect(size).toBeLessThan(most);
    expect(answer).toMatchObject(expected);
  });

  it('is an error, not a guess, where merged events lie on both sides of the beginning of the window', () => {
    const rule = ruleFor({ ...SUM, within: '1s', compare: { gt: 999 } });
    let state: RuleState | undefined;
    const moment = (nowUs: number) => ({ nowUs, sinceUs: null, isRepeated: false, stepHash: null, hash });
    const call = callOf({ name: 'a', input: { n: 0.1 } });
    for (let atUs = 1; atUs <= 9_000; atUs += 1) {
      for (const { delta } of rule.records?.of(call, 'request', moment(atUs)) ?? []) {
        state = historyReducer.apply(state, delta, atUs, null);
      }
    }
    expect(rule.answer(state, call, moment(9_001))).toMatchObject({ matched: false, error: null });
    // Without the first two events, which are one, the sum is 899.8.
    const exact = ruleFor({ ...SUM, within: '1s', compare: { gt: 899.85 } });
    expect(exact.answer(state, call, moment(9_001)).matched).toBe(true);
    expect(exact.answer(state, call, moment(1_000_002)).error).toMatch(/do not decide/);
  });

  it('hashes keys and values of a megabyte, and cannot compare events with them by order', () => {
    const big = 'x'.repeat(1_000_000);
    const sent: Sent = { name: 'a', input: { n: 1, big } };
    const linked = fill({ ...where('event.input.big == input.big'), key: ['input.big'] }, 3, () => sent);
    expect(linked.size).toBeLessThan(200);
    expect(JSON.stringify(linked.key).length).toBeLessThan(500);
    expect(linked.answer.matched).toBe(true);
    const mixed = fill(where('event.input.big < input.big'), 3, () => sent);
    expect(mixed.size).toBeLessThan(300);
    expect(mixed.answer.error).toMatch(/do not decide/);
  });

  it('ends terms that take too much work, and then cannot tell', () => {
    const list = Array.from({ length: 3_000 }, (_, index) => index);
    const run = new HistoryRun(where('event.input.list.all(x, event.input.list.exists(y, x == y))'), true);
    run.send({ name: 'a', input: { list } });
    expect(run.send({ name: 'a', input: { list } }).error).toMatch(/do not decide/);
  });
});

describe('the fold of history', () => {
  const config = fc.constantFrom<JsonObject>(
    FORMERLY,
    COUNT,
    SUM,
    { ...SUM, op: 'distinct' },
    { ...FORMERLY, op: 'previous' },
    { ...FORMERLY, op: 'not_since', anchor: { kinds: ['request'], step_names: ['b'] } },
    where('event.input.n < input.n'),
  );
  const event = fc.record({
    name: fc.constantFrom('a', 'b'),
    n: fc.integer({ min: 0, max: 4 }),
    afterUs: fc.constantFrom(1, 900_000_000, 1_800_000_000, 3_600_000_000, 3_600_000_001),
  });

  it('gives the same answers whenever it is pruned, and after it was written', () => {
    fc.assert(
      fc.property(
        config,
        fc.array(event, { maxLength: 40 }),
        fc.array(fc.boolean()),
        (given, events, prunes) => {
          const rule = ruleFor(given);
          let [plain, pruned]: (RuleState | undefined)[] = [undefined, undefined];
          let atUs = 1_800_000_000_000_000;
          for (const [index, { name, n, afterUs }] of events.entries()) {
            atUs += afterUs;
            const call = callOf({ name, input: { n } });
            const moment = { nowUs: atUs, sinceUs: null, isRepeated: false, stepHash: null, hash };
            if (prunes[index] === true && pruned !== undefined) {
              pruned = historyReducer.prune(JSON.parse(JSON.stringify(pruned)) as RuleState, atUs);
            }
            const [answer, same] = [pruned, plain].map((state) =>
              toldAnswer(rule.answer(state, call, moment)),
            );
            expect(answer).toEqual(same);
            for (const { delta } of rule.records?.of(call, 'request', moment) ?? []) {
              plain = historyReducer.apply(plain, delta, atUs, null);
              pruned = historyReducer.apply(pruned, delta, atUs, null);
            }
          }
          if (plain !== undefined) expect(historyReducer.prune(plain, atUs + 3_600_000_001)).toBeUndefined();
        },
      ),
      { numRuns: generatedCases(300) },
    );
  });

  it('ignores what it does not understand, and its share of a limit is from 0 to 1', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (state, delta) => {
        const grown = historyReducer.apply(state as RuleState, delta as Delta, 1, null);
        const used = historyReducer.used(grown, 2);
        expect(used >= 0 && used <= 1).toBe(true);
      }),
    );
    const run = new HistoryRun(COUNT, true);
    const key = run.rule.keyOf(callOf({ name: 'a' }), hash);
    const used = [1, 2, 3, 4].map(() => {
      run.send({ name: 'a' });
      const state = 'missing' in key ? undefined : run.memory.stateOf('ns', key, 'h.test');
      return Math.round(historyReducer.used(state ?? null, run.memory.nowUs) * 100);
    });
    expect(used).toEqual([33, 67, 100, 100]);
  });
});

describe('docs/memory.md', () => {
  const page = readFileSync(findUp('docs/memory.md'), 'utf8');
  const section = /\n## history\n([\s\S]*?)\n## /.exec(page)?.[1] ?? '';
  const configs = [...section.matchAll(/\| `(\{"op".*\})` \|/g)].map(
    ([, text = '']) => parseJson(text) as JsonObject,
  );

  it('has configurations of history that are accepted without a warning', () => {
    expect(configs.length).toBeGreaterThan(4);
    for (const config of configs) {
      expect(problems(config)).toEqual([]);
      expect([
        ...(evaluator.warningsFor?.(config, { selectorPath: '*', positive: true, beforeSteps: false }) ?? []),
      ]).toEqual([]);
    }
  });
});
