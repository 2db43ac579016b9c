import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memberChanges } from '../../../packages/dashboard/src/control-parts/definition-changes.js';

const leaf = (pattern: string) => ({ evaluator: { name: 'regex', config: { pattern } } });

describe('the changed members of a definition', () => {
  it('are named by their paths, with both values', () => {
    const before = { name: 'a', condition: { and: [leaf('x'), leaf('y')] }, tags: ['t'], enabled: true };
    const after = { name: 'a', condition: { and: [leaf('x'), leaf('z')] }, tags: [], scope: {} };
    expect(memberChanges(before, after)).toEqual([
      {
        path: 'condition.and[1].evaluator.config.pattern',
        kind: 'changed',
        before: '"y"',
        after: '"z"',
      },
      { path: 'tags[0]', kind: 'removed', before: '"t"' },
      { path: 'enabled', kind: 'removed', before: 'true' },
      { path: 'scope', kind: 'added', after: '{}' },
    ]);
  });

  it('are only the new item if one is put between others', () => {
    expect(memberChanges({ and: ['a', 'b', 'c'] }, { and: ['a', 'new', 'b', 'c'] })).toEqual([
      { path: 'and[1]', kind: 'added', after: '"new"' },
    ]);
    expect(memberChanges({ and: ['a', 'b', 'c'] }, { and: ['b', 'c'] })).toEqual([
      { path: 'and[0]', kind: 'removed', before: '"a"' },
    ]);
  });

  it('are none if only the order of members differs', () => {
    expect(memberChanges({ a: 1, b: { c: [1], d: null } }, { b: { d: null, c: [1] }, a: 1 })).toEqual([]);
  });

  it('have quoted names if these are no words, and ordinary ones if they are of objects', () => {
    const paths = memberChanges(
      JSON.parse('{"a b": 1, "__proto__": 1}'),
      JSON.parse('{"a b": 2, "__proto__": 2, "toString": 3}'),
    ).map(({ path }) => path);
    expect(paths).toEqual(['["a b"]', '__proto__', 'toString']);
  });

  it('are none exactly for equal values, and the same with the sides exchanged', () => {
    const json = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(json, json, (left, right) => {
        const changes = memberChanges(left, right);
        const equal = JSON.stringify(sorted(left)) === JSON.stringify(sorted(right));
        expect(changes.length === 0).toBe(equal);
        const exchanged = memberChanges(right, left).map(({ path, before, after }) => [path, after, before]);
        expect(exchanged.sort()).toEqual(
          changes.map(({ path, before, after }) => [path, before, after]).sort(),
        );
      }),
    );
  });
});

/** The same value for equal ones, whatever the order of their members. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return ['list', ...value.map(sorted)];
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return ['object', ...members.sort(([a], [b]) => (a < b ? -1 : 1))];
}
