import { describe, expect, it } from 'vitest';
import {
  compileExpression,
  completionsAt,
  ExpressionError,
  inspectExpression,
  MAX_EXPRESSION_LENGTH,
} from '../src/index.js';
import { VARIABLES } from './expression.support.js';

/** The first problem: its code, the part of the text that has it, and what may replace that. */
function problemOf(text: string): readonly [code: string, part: string, suggestion: string | null] | null {
  const [problem] = inspectExpression(text, VARIABLES).problems;
  return problem === undefined
    ? null
    : [problem.code, text.slice(problem.start, problem.end), problem.suggestion];
}

describe('problems of an expression', () => {
  it.each([
    ['', 'syntax', '', null],
    ['   ', 'syntax', '   ', null],
    ["name = 'a'", 'syntax', '=', '=='],
    ["name == 'a' and true", 'syntax', 'and', '&&'],
    ['not (x == 1)', 'syntax', 'not', '!'],
    ["name == 'a", 'syntax', "'a", null],
    ["(name == 'a'", 'syntax', '(', null],
    ["name == 'a')", 'syntax', ')', null],
    ['x == [1, 2)', 'syntax', ')', null],
    ['x == 1 &&', 'syntax', '&&', null],
    ['x == 1 2', 'syntax', '2', null],
    ['== 1', 'syntax', '==', null],
    ['x == 9223372036854775808', 'syntax', '9223372036854775808', null],
    ['x == #', 'syntax', '#', null],
    ['Foo{a: 1} == x', 'syntax', 'Foo', null],
    ['inptu.amount > 1', 'unknown_name', 'inptu', 'input'],
    ["x.containz('a')", 'unknown_name', 'containz', 'contains'],
    ['contains(x, "a")', 'unknown_name', 'contains', null],
    ['sizes(x) > 1', 'unknown_name', 'sizes', 'size'],
    ['x.exists(i)', 'unknown_name', 'exists', null],
    ['input.amout > 1', 'unknown_member', 'amout', 'amount'],
    ['has(input.tag)', 'unknown_member', 'tag', 'tags'],
    ["input['too'] == 'a'", 'unknown_member', "'too'", 'to'],
    ["input.amount > '1000'", 'type', "'1000'", '1000'],
    ['input.to == 5', 'type', '5', "'5'"],
    ["input.urgent == 'true'", 'type', "'true'", 'true'],
    ['input.to.amount == 5', 'type', 'amount', null],
    ["input.to in 'abc'", 'type', "'abc'", null],
    ['input.tags.amount == 5', 'type', 'amount', null],
    ["input.tags == 'a'", 'type', "input.tags == 'a'", null],
    ['input.amount && true', 'type', 'input.amount', null],
    ['input.tags.exists(t, t > 5)', 'type', '5', "'5'"],
    ['input.to.startsWith(5)', 'type', 'input.to.startsWith(5)', null],
    ["input.amount + 'a' == 'a'", 'type', "input.amount + 'a'", null],
    ['1 + 1.0 == 2.0', 'type', '1 + 1.0', null],
    ['input.amount + 1', 'result', 'input.amount + 1', null],
    ["x.matches('[')", 'syntax', "'['", null],
    ['x.matches(y)', 'limit', 'y', null],
    ['x.all(a, a.all(b, b.all(c, true)))', 'limit', 'b.all(c, true)', null],
  ])('have a place and, where one is near, a suggestion: %s', (text, code, part, suggestion) => {
    expect(problemOf(text)).toEqual([code, part, suggestion]);
  });

  it.each([
    ["input.amount > 1000 && !input.to.endsWith('@example.com')"],
    ['input.extra.anything.at.all == 5 && x.foo.bar > 1'],
    ['input.amount == 5.5 || input.amount == 5 || input.amount == 5u'],
    ["input.tags.exists(t, t == 'a') && input.to in input.tags"],
    ['input.urgent == null || input.urgent'],
    ["(x ? 'a' : 5) == 5"],
    ["(name + 'a').size() > 3 && [1, 'a'].exists(i, i == 'a')"],
  ])('are none where types may agree: %s', (text) => {
    expect(inspectExpression(text, VARIABLES).problems).toEqual([]);
  });

  it('are told all at once, in order of the text', () => {
    const { problems } = inspectExpression(
      "input.amout > 1 && inptu == 2 && input.to > 5 && foo('a')",
      VARIABLES,
    );
    expect(problems.map(({ code }) => code)).toEqual([
      'unknown_member',
      'unknown_name',
      'type',
      'unknown_name',
    ]);
  });

  it('of types can be left to the caller', () => {
    const text = 'input.amout > 1';
    const strict = () => compileExpression(text, { variables: VARIABLES, strictTypes: true });
    expect(strict).toThrow(ExpressionError);
    expect(strict).toThrow('at character 7: there is no member amout; did you mean amount?');
    const { problems } = compileExpression(text, { variables: VARIABLES, strictTypes: false });
    expect(problems).toMatchObject([{ code: 'unknown_member', start: 6, end: 11 }]);
    const unknown = () => compileExpression('foo > 1', { variables: VARIABLES, strictTypes: false });
    expect(unknown).toThrow(ExpressionError);
  });

  it.each([
    ['x == 1'.padEnd(MAX_EXPRESSION_LENGTH + 1)],
    [`${'('.repeat(33)}true${')'.repeat(33)}`],
    [Array.from({ length: 251 }, () => 'x').join('+')],
    [Array.from({ length: 1_001 }, () => 'x').join('+')],
    [`${'!'.repeat(4_000)}x.y`],
    [`${'-'.repeat(4_000)}x`],
    ['['.repeat(4_000)],
    [`x${'[0]'.repeat(1_000)}`],
    [`x${'.a'.repeat(2_000)}`],
    ['x ? '.repeat(1_000)],
    [`${'x ? 1 : '.repeat(400)}1`],
    ["'".repeat(4_000)],
    [`"${'\\'.repeat(4_000)}`],
    ['a'.repeat(4_096)],
    ['{1:'.repeat(30)],
  ])('never are exceptions, nor exhaust the stack (%#)', (text) => {
    const found = inspectExpression(text, VARIABLES).problems;
    for (const { start, end, message } of found) {
      expect(start).toBeGreaterThanOrEqual(0);
      expect(end).toBeLessThanOrEqual(text.length);
      expect(message).not.toBe('');
    }
    completionsAt(text, text.length, VARIABLES);
  });
});

describe('what is known before evaluation', () => {
  it.each([
    ["name == 'a' && name == 'b'", 'always_false'],
    ["name in ['a', 'b'] && name == 'c'", 'always_false'],
    ['x > 5 && x < 3', 'always_false'],
    ['x > 5 && x <= 5', 'always_false'],
    ['x == 1 && x > 2', 'always_false'],
    ["'a' == name && name != 'a'", 'always_false'],
    ["!(name == 'a' || name == 'b') && name == 'b'", null],
    ["name != 'a' || name != 'b'", 'always_true'],
    ['x < 5 || x >= 5', 'always_true'],
    ['x == 1 || true', 'always_true'],
    ['x == 1 && 1 > 2', 'always_false'],
    ["'abc'.contains('b')", 'always_true'],
    ['!(1 == 1)', 'always_false'],
    ["name == 'a' || name == 'b'", null],
    ['x > 5 && y < 3', null],
    ['x >= 5 && x <= 5', null],
    ['x > 5 && x.size() < 3', null],
  ])('%s: %s', (text, code) => {
    expect(problemOf(text)?.[0] ?? null).toBe(code);
  });

  it.each([
    ["name == 'a' && x > 1", [{ variable: 'name', texts: ['a'] }]],
    ["'a' == name", [{ variable: 'name', texts: ['a'] }]],
    [
      "name in ['a', 'b'] && stage == 'pre'",
      [
        { variable: 'name', texts: ['a', 'b'] },
        { variable: 'stage', texts: ['pre'] },
      ],
    ],
    ["(name == 'a' || name == 'b') && (x || y)", [{ variable: 'name', texts: ['a', 'b'] }]],
    ["name in ['a', 'b'] && name in ['b', 'c']", [{ variable: 'name', texts: ['b'] }]],
    ["name == 'a' || x > 1", []],
    ["!(name == 'a')", []],
    ["name != 'a' && x == 1", []],
    ["input.to == 'a'", []],
    ["name == 'a' ? true : false", []],
  ])('demands of texts: %s', (text, requires) => {
    expect(compileExpression(text, { variables: VARIABLES, strictTypes: true }).requires).toEqual(requires);
  });

  it.each([
    ['input.amount > 1 && input.extra.a.b == x[0].c', ['input.amount', 'input.extra.a.b', 'x[0].c']],
    ['has(input.tags) && input.tags.exists(t, t == name) && x["a b"] == 1', ['input.tags', 'name', 'x.a b']],
    ['x.all(x, x == 1) && now > timestamp(0)', ['x']],
    ['size(input.to) + size(input.to.trim()) > 3', ['input.to']],
  ])('members that are read: %s', (text, reads) => {
    expect(compileExpression(text, { variables: VARIABLES, strictTypes: true }).reads).toEqual(reads);
  });
});

describe('completion', () => {
  const labels = (text: string) => {
    const { from, items } = completionsAt(text, text.length, VARIABLES);
    return { typed: text.slice(from), labels: items.map(({ label }) => label) };
  };

  it.each([
    ['inp', 'inp', ['input']],
    ['input.', '', ['amount', 'to', 'tags', 'urgent', 'extra']],
    ['input.am', 'am', ['amount']],
    ['x == 1 && input.to.startsW', 'startsW', ['startsWith']],
    ['(input.to + "a").end', 'end', ['endsWith']],
    ['input.tags[0].ends', 'ends', ['endsWith']],
    ['input.tags.ex', 'ex', ['exists', 'exists_one']],
    ['input.tags.exists(tag, ta', 'ta', ['tag']],
    ['input.tags.exists(tag, tag.lower', 'lower', ['lowerAscii']],
    ['math.gr', 'gr', ['greatest']],
    ['cidr("10.0.0.0/8").containsI', 'containsI', ['containsIP']],
    ['now.getFull', 'getFull', ['getFullYear']],
    ['ha', 'ha', ['has']],
  ])('proposes what fits: %s', (text, typed, expected) => {
    const found = labels(text);
    expect(found.typed).toBe(typed);
    expect(found.labels).toEqual(expect.arrayContaining(expected));
    if (typed.length > 1)
      expect(found.labels.every((label) => label.toLowerCase().startsWith(typed.toLowerCase()))).toBe(true);
  });

  it('tells types, signatures and descriptions', () => {
    const [item] = completionsAt('input.to', 8, VARIABLES).items;
    expect(item).toEqual({ label: 'to', kind: 'member', detail: 'string', documentation: 'The receiver.' });
    const [method] = completionsAt('name.ends', 9, VARIABLES).items;
    expect(method).toMatchObject({ kind: 'function', detail: 'string.endsWith(string): bool' });
  });

  it.each([["name == 'inp"], ['// inp'], ['input.unknown.a'], ["'a'b."]])(
    'proposes nothing in %s',
    (text) => {
      expect(labels(text).labels).toEqual([]);
    },
  );
});

describe('a trace', () => {
  const text = "x.items.exists(i, i > 2) && (name + '!' == 'send!' || y.a == 1)";
  const compiled = compileExpression(text, { variables: VARIABLES, strictTypes: true });
  const names = [...VARIABLES.keys()];
  const trace = (given: Record<string, unknown>) => {
    const values = { variable: (index: number) => (given[names[index] ?? ''] ?? null) as never };
    const { result, parts } = compiled.trace(values, () => 0);
    return {
      result,
      parts: parts.map(({ start, end, ...rest }) => ({ text: text.slice(start, end), ...rest })),
    };
  };

  it('has the value of each sub-expression, outermost first', () => {
    const { result, parts } = trace({ x: { items: [1, 3] }, name: 'send', y: null });
    expect(result).toEqual({ ok: true, value: true });
    expect(parts[0]).toEqual({ text, type: 'bool', value: true, error: null });
    expect(parts).toContainEqual({ text: 'x.items', type: 'list', value: [1, 3], error: null });
    expect(parts).toContainEqual({ text: 'i', type: 'int', value: 3, error: null });
    expect(parts).toContainEqual({ text: "name + '!'", type: 'string', value: 'send!', error: null });
    expect(parts).toContainEqual({ text: 'y.a', type: null, value: undefined, error: null });
  });

  it('has the errors, and the same result as an evaluation', () => {
    const { result, parts } = trace({ x: { items: [5] }, name: 'other', y: {} });
    expect(result).toEqual({ ok: false, error: 'y.a is missing', missing: 'y.a' });
    expect(parts).toContainEqual({ text: 'y.a', type: null, value: undefined, error: 'y.a is missing' });
  });
});
