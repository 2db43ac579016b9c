import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ScopeView } from '../../../src/kernel/core/definition-view.js';
import { type CompiledScope, compileScope } from '../../../src/kernel/core/scope.js';
import { createScopeIndex } from '../../../src/kernel/core/scope-index.js';

interface Indexed {
  readonly id: number;
  readonly scope: CompiledScope;
}

const view = (members: Partial<ScopeView> = {}): ScopeView => ({
  stages: null,
  stepTypes: null,
  stepNames: null,
  stepNameRegex: null,
  ...members,
});

/** Controls with the scopes given, newest first. */
const controlsOf = (views: readonly ScopeView[]): Indexed[] =>
  views.map((one, index) => ({ id: views.length - index, scope: compileScope(one) }));

/** A scope that counts how often it is searched. */
function countingScope(answer: (name: string) => boolean) {
  const searched: string[] = [];
  const scope: CompiledScope = {
    ...compileScope(view()),
    searchName(name) {
      searched.push(name);
      return answer(name);
    },
  };
  return { searched, scope };
}

/** What the contract says about one control. */
function asked(
  { stages, stepTypes, stepNames, stepNameRegex }: ScopeView,
  stage: 'pre' | 'post',
  type: string,
  name: string,
) {
  if (stages !== null && !stages.includes(stage)) return 'no';
  if (stepTypes !== null && !stepTypes.includes(type)) return 'no';
  if (stepNames === null && stepNameRegex === null) return 'yes';
  if (stepNames?.includes(name)) return 'yes';
  if (stepNameRegex === null) return 'no';
  if (stepNameRegex === '(') return 'unknown';
  return name.includes(stepNameRegex) ? 'yes' : 'no';
}

const stage = fc.constantFrom('pre' as const, 'post' as const);
const type = fc.constantFrom('tool', 'llm', 'agent', '__proto__', 'constructor');
const name = fc.constantFrom(
  'search',
  'send_mail',
  'mail',
  '__proto__',
  'toString',
  'm',
  `m${'a'.repeat(200)}`,
);
const pattern = fc.constantFrom('m', 'a', 's', 'mail', '(');
const some = <T>(item: fc.Arbitrary<T>) => fc.option(fc.array(item, { minLength: 1, maxLength: 3 }));
const anyView: fc.Arbitrary<ScopeView> = fc.record({
  stages: some(stage),
  stepTypes: some(type),
  stepNames: some(name),
  stepNameRegex: fc.option(pattern),
});

describe('a scope index', () => {
  it('finds what asking every control finds, in the same order, again and again', () => {
    fc.assert(
      fc.property(
        fc.array(anyView, { maxLength: 12 }),
        fc.array(fc.tuple(stage, type, name), { minLength: 1, maxLength: 20 }),
        (views, steps) => {
          const controls = controlsOf(views);
          const index = createScopeIndex(controls);
          for (const [at, stepType, stepName] of [...steps, ...steps]) {
            const found = index.find(at, stepType, stepName);
            const idsWith = (wanted: string) =>
              controls.flatMap(({ id }, position) =>
                asked(views[position] ?? view(), at, stepType, stepName) === wanted ? [id] : [],
              );
            expect(found.controls.map(({ id }) => id)).toEqual(idsWith('yes'));
            expect(found.failures.map(({ control }) => control.id)).toEqual(idsWith('unknown'));
          }
        },
      ),
    );
  });

  it('searches a pattern once for a name', () => {
    const { searched, scope } = countingScope((one) => one === 'a');
    const index = createScopeIndex([{ scope }]);
    for (const stepName of ['a', 'b', 'a', 'b']) index.find('pre', 'tool', stepName);
    expect(searched).toEqual(['a', 'b']);
  });

  it('has one answer for all names that no control mentions, and caches none of them', () => {
    const index = createScopeIndex(controlsOf([view(), view({ stepNames: ['known'] })]));
    expect(index.find('pre', 'tool', 'a')).toBe(index.find('pre', 'tool', 'b'));
    expect(index.find('pre', 'tool', 'known').controls).toHaveLength(2);
  });

  it('gives names with the same controls the same answer', () => {
    const index = createScopeIndex(controlsOf([view(), view({ stepNameRegex: '^a' })]));
    expect(index.find('pre', 'tool', 'ab')).toBe(index.find('pre', 'tool', 'ac'));
  });

  it('drops names when there are too many, and does not cache long ones', () => {
    const { searched, scope } = countingScope(() => true);
    const index = createScopeIndex([{ scope }]);
    index.find('pre', 'tool', 'first');
    index.find('pre', 'tool', 'first');
    expect(searched).toHaveLength(1);
    // Each remembered name counts with at least 100 bytes.
    const enough = Math.ceil(index.sizeBytes / 100);
    for (let count = 0; count < enough; count += 1) index.find('pre', 'tool', `name-${count}`);
    index.find('pre', 'tool', 'first');
    expect(searched).toHaveLength(enough + 2);
    searched.length = 0;
    const long = 'n'.repeat(129);
    for (let count = 0; count < 3; count += 1) index.find('pre', 'tool', long);
    expect(searched).toHaveLength(3);
  });

  it('searches again when a pattern could not decide because of the name', () => {
    let asks = 0;
    const scope: CompiledScope = {
      ...compileScope(view()),
      searchName: () => {
        asks += 1;
        return { problem: 'too long' };
      },
    };
    const index = createScopeIndex([{ scope }]);
    for (let count = 1; count <= 2; count += 1) {
      expect(index.find('pre', 'tool', 'a').failures).toMatchObject([{ problem: 'too long' }]);
      expect(asks).toBe(count);
    }
  });
});
