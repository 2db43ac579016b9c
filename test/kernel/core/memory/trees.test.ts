import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject, type JsonObject, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { ControlResult, Decision, Verdict } from '../../../../src/kernel/core/types.js';
import { aLeaf, aProgram, aStep } from '../support.js';
import '../../../support/property-seed.js';
import { deciding, EVALUATORS, FakeMemory, kept, remembered } from './support.js';

/** A tree of which the naive interpreter knows all that the core has to find out. */
type Tree =
  | { readonly kind: 'plain'; readonly says: 'yes' | 'no' | 'fail'; readonly by: 'now' | 'later' | 'model' }
  | {
      readonly kind: 'kept';
      readonly id: string;
      readonly says: 'match' | 'miss' | 'error' | 'missing' | 'skipped';
    }
  | { readonly kind: 'and' | 'or'; readonly children: readonly Tree[] }
  | { readonly kind: 'not'; readonly child: Tree };

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.oneof(
      fc.record({
        kind: fc.constant('plain' as const),
        says: fc.constantFrom('yes', 'yes', 'no', 'no', 'fail'),
        by: fc.constantFrom('now', 'now', 'later', 'model'),
      }),
      fc.record({
        kind: fc.constant('kept' as const),
        id: fc.integer({ min: 0, max: 9 }).map(String),
        says: fc.constantFrom('match', 'match', 'miss', 'miss', 'error', 'missing', 'skipped'),
      }),
    ),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      children: fc.array(tie('tree'), { minLength: 1, maxLength: 4 }),
    }),
    fc.record({ kind: fc.constant('not' as const), child: tie('tree') }),
  ),
}));

function definitionOf(node: Tree): JsonObject {
  switch (node.kind) {
    case 'plain':
      if (node.says === 'fail') return aLeaf('fail');
      if (node.by === 'now') return aLeaf(node.says);
      return aLeaf(node.by, { matched: node.says === 'yes' });
    case 'kept': {
      const { id, says } = node;
      if (says === 'missing' || says === 'skipped') {
        return kept({ id: `${id}${says}`, missing: 'session_id', skips: says === 'skipped' });
      }
      return kept({ id: `${id}${says}`, answer: says });
    }
    case 'not':
      return { not: definitionOf(node.child) };
    default:
      return { [node.kind]: node.children.map(definitionOf) };
  }
}

type Said = 'match' | 'miss' | 'error';

const hasMemory = (node: Tree): boolean =>
  node.kind === 'kept' ||
  (node.kind === 'not' ? hasMemory(node.child) : node.kind !== 'plain' && node.children.some(hasMemory));

const inOrder = (children: readonly Tree[]) => [
  ...children.filter((child) => !hasMemory(child)),
  ...children.filter(hasMemory),
];

/** What a condition gives, its parts without memory first. */
function saidBy(node: Tree): Said {
  switch (node.kind) {
    case 'plain':
      return node.says === 'fail' ? 'error' : node.says === 'yes' ? 'match' : 'miss';
    case 'kept':
      if (node.says === 'error' || node.says === 'missing') return 'error';
      return node.says === 'match' ? 'match' : 'miss';
    case 'not': {
      const said = saidBy(node.child);
      return said === 'error' ? said : said === 'match' ? 'miss' : 'match';
    }
    default: {
      const decides: Said = node.kind === 'or' ? 'match' : 'miss';
      const deciding = inOrder(node.children)
        .map(saidBy)
        .find((said) => said === 'error' || said === decides);
      return deciding ?? (decides === 'match' ? 'miss' : 'match');
    }
  }
}

/** The rules whose checks are open, and have a key. */
function openIn(node: Tree): string[] {
  if (node.kind === 'plain') return [];
  if (node.kind === 'not') return openIn(node.child);
  if (node.kind === 'kept') {
    return node.says === 'missing' || node.says === 'skipped' ? [] : [`${node.id}${node.says}`];
  }
  const neutral: Said = node.kind === 'or' ? 'miss' : 'match';
  const plain = node.children.filter((child) => !hasMemory(child));
  if (!plain.every((child) => saidBy(child) === neutral)) return [];
  return node.children.flatMap(openIn);
}

const DECISIONS: readonly Decision[] = ['deny', 'steer', 'observe'];
const control = fc.record({ condition: tree, decision: fc.constantFrom(...DECISIONS) });
type Control = { readonly condition: Tree; readonly decision: Decision };

const isUnsafe = ({ condition, decision }: Control): boolean => {
  const said = saidBy(condition);
  return said === 'error' ? decision === 'deny' : said === 'match' && decision !== 'observe';
};
const programOf = (controls: readonly Control[]) =>
  aProgram(
    controls.map(({ condition, decision }) => deciding(definitionOf(condition), decision)),
    EVALUATORS,
  );

/** What a verdict says, without ids of executions. */
function saying(verdict: Verdict, ids: (id: number) => boolean = () => true): object {
  const shown = (list: readonly ControlResult[]) =>
    list
      .filter(({ control_id }) => ids(control_id))
      .map(({ control_id, action, result }) => ({ control_id, action, result }));
  const { matches, errors, non_matches } = verdict;
  return { matches: shown(matches), errors: shown(errors), non_matches: shown(non_matches) };
}

/** The shape of a trace must be that of the definition. */
function shapeOf(node: JsonValue | undefined): JsonValue {
  if (!isObject(node)) return null;
  const { type, children, evaluator_name = null } = node;
  return Array.isArray(children) ? { type: type ?? null, children: children.map(shapeOf) } : evaluator_name;
}

function shapeOfTree(node: Tree): JsonValue {
  switch (node.kind) {
    case 'plain':
      return node.says === 'fail' ? 'fail' : node.by === 'now' ? node.says : node.by;
    case 'kept':
      return 'kept';
    case 'not':
      return { type: 'not', children: [shapeOfTree(node.child)] };
    default:
      return { type: node.kind, children: node.children.map(shapeOfTree) };
  }
}

describe('conditions with memory', () => {
  it('decide, and use up what is open, as a naive interpreter does', async () => {
    const seen = { safe: 0, asked: 0, skipped: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(control, { minLength: 1, maxLength: 5 }), async (controls) => {
        const memory = new FakeMemory();
        const verdict = await remembered(programOf(controls), memory);
        const passes = controls.every((one) => hasMemory(one.condition) || !isUnsafe(one));
        const evaluated = controls
          .map((one, index) => ({ ...one, id: index + 1 }))
          .filter(({ condition }) => passes || !hasMemory(condition));
        const isSafe = passes && !controls.some(isUnsafe);
        expect(verdict.is_safe).toBe(isSafe);
        const lists = { match: verdict.matches, error: verdict.errors, miss: verdict.non_matches };
        for (const [said, list] of Object.entries(lists)) {
          const expected = evaluated
            .filter(({ condition }) => saidBy(condition) === said)
            .map(({ id }) => id);
          // External checks that a deny made superfluous are left out.
          const isLeftOut = (id: number) =>
            !passes &&
            !Object.values(lists)
              .flat()
              .some((one) => one.control_id === id);
          expect(list.map(({ control_id }) => control_id)).toEqual(
            expected.filter((id) => !isLeftOut(id)).reverse(),
          );
        }
        const open = controls.flatMap(({ condition }, index) =>
          openIn(condition).map((id) => `r${index + 1}.${id}`),
        );
        const added = memory.additions.map(({ ruleId }) => ruleId);
        expect([...added].sort()).toEqual(isSafe ? [...new Set(open)].sort() : []);
        for (const { control_id, result } of [
          ...verdict.matches,
          ...verdict.errors,
          ...verdict.non_matches,
        ]) {
          const defined = controls[control_id - 1];
          if (defined !== undefined && result.metadata !== null) {
            expect(shapeOf(result.metadata.condition_trace)).toEqual(shapeOfTree(defined.condition));
          }
        }
        if (isSafe) seen.safe += 1;
        if (open.length > 0 && passes) seen.asked += 1;
        if (!passes && controls.some(({ condition }) => hasMemory(condition))) seen.skipped += 1;
      }),
      { numRuns: 2_000 },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(200);
  });

  it('give the same verdict however often they are decided', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(control, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 2, max: 4 }),
        async (controls, decisions) => {
          const once = new FakeMemory();
          const often = new FakeMemory();
          often.decisions = decisions;
          const program = programOf(controls);
          const verdict = await remembered(program, once);
          expect(saying(await remembered(program, often))).toEqual(saying(verdict));
          expect(often.additions).toEqual(once.additions);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('leave results of controls without memory as they are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(control, { minLength: 1, maxLength: 6 }),
        fc.constantFrom('full' as const, 'verdict' as const),
        async (controls, detail) => {
          const plainIds = new Set(
            controls.flatMap(({ condition }, index) => (hasMemory(condition) ? [] : [index + 1])),
          );
          const silenced = controls.map((one, index) =>
            plainIds.has(index + 1)
              ? one
              : { ...one, condition: { kind: 'plain', says: 'no', by: 'now' } as const },
          );
          const isPlain = (id: number) => plainIds.has(id);
          const alone = await programOf(silenced).evaluate(aStep(), 'pre', detail);
          const together = await remembered(programOf(controls), new FakeMemory(), { detail });
          expect(saying(together, isPlain)).toEqual(saying(alone, isPlain));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
