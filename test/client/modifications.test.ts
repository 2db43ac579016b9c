import { create } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type EvaluateResponse,
  EvaluateResponseSchema,
  Outcome,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { evaluatedBy, withLocal } from '../../packages/client/src/combined.js';
import { guardTool } from '../../packages/client/src/guard.js';
import { changedBy } from '../../packages/client/src/modification.js';
import {
  DeniedError,
  type EvaluationOptions,
  type EvaluationRequest,
  type GuardOptions,
  StepDataError,
} from '../../packages/client/src/node.js';
import { ALLOWED, matchOf } from './verdicts.js';

type Operation = readonly [op: string, path: string, valueJson?: string];

/** A step that has these values in its places, as JSON text. */
function stepWith(patch: readonly Operation[]): string {
  interface Members extends Map<string, Members | string> {}
  const members: Members = new Map();
  for (const [, pointer, valueJson] of patch) {
    if (valueJson === undefined) continue;
    const names = pointer.split('/').slice(1);
    let at = members;
    for (const name of names.slice(0, -1)) {
      const known = at.get(name);
      const next: Members = known instanceof Map ? known : new Map();
      at.set(name, next);
      at = next;
    }
    at.set(names.at(-1) ?? '', valueJson);
  }
  const unescaped = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~');
  const text = (value: Members | string): string =>
    typeof value === 'string'
      ? value
      : `{${[...value].map(([name, one]) => `${JSON.stringify(unescaped(name))}:${text(one)}`).join(',')}}`;
  return text(new Map<string, Members | string>([['name', '"send"'], ...members]));
}

/** A verdict that lets a changed step proceed. Values of operations in messages are doubles, so they are left out here. */
const changing = (patch: readonly Operation[], step = stepWith(patch)) =>
  create(EvaluateResponseSchema, {
    isSafe: false,
    outcome: Outcome.MODIFY,
    matches: [matchOf(7)],
    modification: { patch: patch.map(([op, path]) => ({ op, path })), stepJson: step, controlIds: [7] },
  });
const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: unknown) => error,
  );

/** A guarded tool whose stages get these verdicts, the arguments that it ran with, and what was evaluated. */
function scene<Args extends readonly unknown[]>(
  verdicts: { readonly pre?: EvaluateResponse; readonly post?: EvaluateResponse },
  tool: (...args: Args) => unknown,
  more: Partial<GuardOptions<Args, unknown>> = {},
) {
  const ran: Args[] = [];
  const asked: (EvaluationRequest & { readonly options: EvaluationOptions })[] = [];
  const guarded = guardTool(
    async (request, options = {}) => {
      asked.push({ ...request, options });
      const verdict = verdicts[request.stage];
      return verdict === undefined ? ALLOWED : evaluatedBy(verdict);
    },
    (...args: Args) => {
      ran.push(args);
      return tool(...args);
    },
    { step: 'send', ...more },
  );
  return { guarded, ran, asked };
}

describe('a verdict that changes a step', () => {
  it('has the changes and the whole step, with all digits', () => {
    const step =
      '{"type":"tool","name":"send","input":{"text":"[redacted]","id":12345678901234567890,"rate":0.1234567890123456789}}';
    const evaluation = evaluatedBy(changing([['replace', '/input/text', '"[redacted]"']], step));
    expect(evaluation).toMatchObject({
      isSafe: false,
      outcome: 'modify',
      modification: {
        patch: [{ op: 'replace', path: '/input/text', value: '[redacted]' }],
        step: { name: 'send', input: { text: '[redacted]', id: 12345678901234567890n } },
        controlIds: [7],
      },
    });
    const { input } = (evaluation as { modification: { step: { input: { rate: object } } } }).modification
      .step;
    expect(String(input.rate)).toBe('0.1234567890123456789');
  });

  it.each<[string, EvaluateResponse]>([
    ['no change', changing([])],
    ['an operation that is not known', changing([['move', '/input/a', '1']])],
    ['no value', changing([['replace', '/input/a']])],
    ['a step that is no JSON', changing([['remove', '/input/a']], '{')],
    ['a step that is no object', changing([['remove', '/input/a']], '[]')],
  ])('is a denial with %s', async (_, verdict) => {
    expect(evaluatedBy(verdict)).toMatchObject({ outcome: 'deny', modification: undefined });
    const { guarded, ran } = scene({ pre: verdict }, (_input: object) => 'sent');
    expect(await failureOf(guarded({ a: 1 }))).toBeInstanceOf(DeniedError);
    expect(ran).toEqual([]);
  });

  it('gives way to a local control that denies or steers the step', () => {
    const evaluation = evaluatedBy(changing([['remove', '/input/a']]));
    for (const outcome of [Outcome.DENY, Outcome.STEER]) {
      const local = create(EvaluateResponseSchema, {
        outcome,
        matches: [matchOf(8, outcome === Outcome.DENY ? 1 : 2)],
      });
      expect(withLocal(evaluation, local)).toMatchObject({
        outcome: outcome === Outcome.DENY ? 'deny' : 'steer',
        modification: undefined,
      });
    }
    const safe = create(EvaluateResponseSchema, { isSafe: true, outcome: Outcome.ALLOW });
    expect(withLocal(evaluation, safe)).toMatchObject({ outcome: 'modify', isSafe: false });
  });
});

describe('a guarded tool', () => {
  it('runs with the changed input, with what is not changed as it was, and ends that step', async () => {
    const when = new Date(0);
    const patch: Operation[] = [
      ['replace', '/input/text', '"card [redacted]"'],
      ['remove', '/input/headers/authorization'],
      ['replace', '/input/items/1/a~1b~0c', 'null'],
    ];
    const given = {
      text: 'card 4111111111111111',
      when,
      big: 2n ** 70n,
      headers: { authorization: 'secret', accept: '*' },
      items: [{ id: 1 }, { 'a/b~c': 'secret', kept: true }],
    };
    const before = structuredClone(given);
    const { guarded, ran, asked } = scene(
      { pre: changing(patch) },
      (_input: object, _more?: object) => 'sent',
    );
    const more = { messages: [] };
    expect(await guarded(given, more)).toBe('sent');
    const changed = {
      text: 'card [redacted]',
      when,
      big: 2n ** 70n,
      headers: { accept: '*' },
      items: [{ id: 1 }, { 'a/b~c': null, kept: true }],
    };
    expect(ran).toEqual([[changed, more]]);
    expect((ran[0]?.[0] as { when: unknown } | undefined)?.when).toBe(when);
    expect(given).toEqual(before);
    expect(asked.map(({ step }) => step.input)).toEqual([
      { ...before, when: when.toJSON() },
      { ...changed, when: when.toJSON() },
    ]);
    expect(asked.map(({ options }) => options.accepts)).toEqual([
      ['steer', 'ask', 'modify'],
      ['steer', 'modify'],
    ]);
  });

  it('runs with an input that is replaced as a whole, and one of no arguments', async () => {
    const whole: Operation[] = [['replace', '/input', '{"amount":12345678901234567890}']];
    const { guarded, ran } = scene({ pre: changing(whole) }, (_input?: object) => 'sent');
    await guarded({ amount: 1 });
    await guarded();
    expect(ran).toEqual([[{ amount: 12345678901234567890n }], [{ amount: 12345678901234567890n }]]);
  });

  it('needs to know the arguments for an input that it makes itself', async () => {
    const patch: Operation[] = [['replace', '/input/city', '"[redacted]"']];
    const input = (city: string) => ({ city });
    const without = scene({ pre: changing(patch) }, (_city: string, _days: number) => 'sunny', { input });
    expect(await failureOf(without.guarded('Rome', 3))).toBeInstanceOf(DeniedError);
    expect(without.ran).toEqual([]);
    expect(without.asked[0]?.options.accepts).toEqual(['steer', 'ask']);
    const changedArgs = (changed: unknown, _city: string, days: number): [string, number] => [
      (changed as { city: string }).city,
      days,
    ];
    const { guarded, ran } = scene({ pre: changing(patch) }, (_city: string, _days: number) => 'sunny', {
      input,
      changedArgs,
    });
    expect(await guarded('Rome', 3)).toBe('sunny');
    expect(ran).toEqual([['[redacted]', 3]]);
  });

  it('returns the changed output', async () => {
    const result = { rows: [{ name: 'Ann', card: '4111' }], at: new Date(0) };
    const patch: Operation[] = [['replace', '/output/rows/0/card', '"[redacted]"']];
    const { guarded } = scene({ post: changing(patch) }, () => result);
    expect(await guarded()).toEqual({ rows: [{ name: 'Ann', card: '[redacted]' }], at: new Date(0) });
    expect(result.rows[0]?.card).toBe('4111');
    const text = scene({ post: changing([['replace', '/output', '"card [redacted]"']]) }, () => 'card 4111');
    expect(await text.guarded()).toBe('card [redacted]');
  });

  it('withholds an output that it cannot change', async () => {
    const patch: Operation[] = [['replace', '/output/card', '"[redacted]"']];
    const shown = scene({ post: changing(patch) }, () => ({ card: '4111' }), { output: (made) => made });
    expect(await failureOf(shown.guarded())).toBeInstanceOf(DeniedError);
    expect(shown.asked[1]?.options.accepts).toEqual(['steer']);
    class Row {
      card = '4111';
      toJSON() {
        return { card: this.card };
      }
    }
    const made = scene({ post: changing(patch) }, () => new Row());
    const error = await failureOf(made.guarded());
    expect(error).toBeInstanceOf(StepDataError);
    expect(error).toMatchObject({ stage: 'post' });
    const thrown = scene({ post: changing([['replace', '/output/error/message', '"x"']]) }, () => {
      throw new Error('card 4111');
    });
    const failure = await failureOf(thrown.guarded());
    expect(failure).toBeInstanceOf(DeniedError);
    expect(JSON.stringify(failure)).not.toContain('4111');
  });

  it.each<[string, Operation[]]>([
    ['of something else', [['replace', '/context/user', '"x"']]],
    ['of the name', [['replace', '/name', '"x"']]],
    ['of the output', [['replace', '/output', '"x"']]],
    ['of what is not there', [['replace', '/input/b', '"x"']]],
    ['within a text', [['replace', '/input/a/b', '"x"']]],
    ['that removes the whole', [['remove', '/input']]],
    ['that removes from a list', [['remove', '/input/list/0']]],
    ['of an index that is none', [['replace', '/input/list/01', '"x"']]],
    ['beyond a list', [['replace', '/input/list/1', '"x"']]],
    ['of an inherited member', [['replace', '/input/constructor', '"x"']]],
    ['with a number that JavaScript does not have', [['replace', '/input/a', '0.1234567890123456789']]],
    [
      'that is only partly possible',
      [
        ['replace', '/input/a', '"x"'],
        ['replace', '/input/b', '"x"'],
      ],
    ],
  ])('does not run with a change %s', async (_, patch) => {
    const { guarded, ran } = scene({ pre: changing(patch) }, (_input: object) => 'sent');
    const error = await failureOf(guarded({ a: 'text', list: [1] }));
    expect(error).toBeInstanceOf(StepDataError);
    expect(error).toMatchObject({ step: 'send', stage: 'pre' });
    expect(ran).toEqual([]);
  });
});

describe('data after a change', () => {
  it('differ from those before in the changed place only', () => {
    const leaf = fc.oneof(fc.string(), fc.double(), fc.bigInt(), fc.boolean(), fc.constant(null));
    const name = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'a/b', '~', '~1', ''));
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.array(fc.tuple(name, tie('tree')), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
      ),
    }));
    /** Every place of a value as a JSON Pointer. */
    const places = (value: unknown, at: string): string[] => [
      at,
      ...(typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, member]) =>
            places(member, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
          )
        : []),
    ];
    const flat = (value: unknown, at: string): [string, unknown][] =>
      typeof value !== 'object' || value === null
        ? [[at, value]]
        : [
            [at, Array.isArray(value)],
            ...Object.entries(value).flatMap(([key, member]) =>
              flat(member, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
            ),
          ];
    fc.assert(
      fc.property(tree, fc.nat(), (value, pick) => {
        const all = places(value, '/input');
        const path = all[pick % all.length] ?? '/input';
        const before = flat(value, '/input');
        const changed = changedBy([{ op: 'replace', path, value: '[new]' }], 'input', value);
        const isBelow = (one: string): boolean => one === path || one.startsWith(`${path}/`);
        expect(flat(changed, '/input').filter(([one]) => !isBelow(one))).toEqual(
          before.filter(([one]) => !isBelow(one)),
        );
        expect(flat(changed, '/input').filter(([one]) => isBelow(one))).toEqual([[path, '[new]']]);
        expect(flat(value, '/input')).toEqual(before);
      }),
      { numRuns: 2_000 },
    );
  });
});
