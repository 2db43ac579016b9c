import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import type { ControlResult, EvaluatorResult } from '../../../src/kernel/core/types.js';
import { aDefinition, aLeaf, aResult, aStep, fakeEvaluator, verdictOf } from './support.js';

interface LeafAnswer extends JsonObject {
  matched: boolean;
  confidence: number;
  fails: boolean;
}

/** Answers what its configuration says, and counts. */
function scripted() {
  const calls: JsonObject[] = [];
  const evaluator = fakeEvaluator('scripted', (config): EvaluatorResult => {
    calls.push(config);
    if (config.fails === true) throw new Error('broken');
    const confidence = config.confidence as number;
    return aResult({
      matched: config.matched === true,
      confidence,
      metadata: { from: config },
      message: 'leaf',
    });
  });
  return { calls, evaluator };
}

const leafOf = (answer: LeafAnswer) => aLeaf('scripted', answer);

const confidence = fc.constantFrom(0, 0.25, 0.5, 1);
const soundLeaf = fc.record({ matched: fc.boolean(), confidence, fails: fc.constant(false) }).map(leafOf);
const anyLeaf = fc.record({ matched: fc.boolean(), confidence, fails: fc.boolean() }).map(leafOf);

function treeOf(leaf: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  return fc.letrec<{ node: JsonObject }>((tie) => ({
    node: fc.oneof(
      { depthSize: 'small', maxDepth: 4 },
      leaf,
      fc.array(tie('node'), { minLength: 1, maxLength: 4 }).map((and): JsonObject => ({ and })),
      fc.array(tie('node'), { minLength: 1, maxLength: 4 }).map((or): JsonObject => ({ or })),
      tie('node').map((not): JsonObject => ({ not })),
    ),
  })).node;
}

/** The same tree, with leaves that all differ: equal ones would be evaluated once only. */
function numbered(tree: JsonObject): JsonObject {
  let leaves = 0;
  const visit = (node: JsonValue): JsonValue => {
    const { and, or, not, evaluator } = node as { [key: string]: JsonValue };
    if (not !== undefined) return { not: visit(not) };
    if (and !== undefined) return { and: (and as JsonValue[]).map(visit) };
    if (or !== undefined) return { or: (or as JsonValue[]).map(visit) };
    leaves += 1;
    return leafOf({ ...(evaluator as { config: LeafAnswer }).config, leaf: leaves } as LeafAnswer);
  };
  return visit(tree) as JsonObject;
}

function resultOf(condition: JsonObject, detail: 'full' | 'verdict' = 'full') {
  const { calls, evaluator } = scripted();
  const definition = aDefinition(condition, 'observe');
  const verdict = verdictOf([definition], aStep(), { detail, evaluators: [evaluator] });
  const all = [...verdict.matches, ...verdict.errors, ...verdict.non_matches];
  return { control: all[0], calls, verdict };
}

function traceOf(control: ControlResult | undefined): JsonObject {
  return control?.result.metadata?.condition_trace as JsonObject;
}

/** What the contract says about a tree, written as plainly as possible. */
function model(node: JsonValue): { matched: boolean | 'error'; confidence: number; leaves: number } {
  const { and, or, not, evaluator } = node as { [key: string]: JsonValue };
  if (not !== undefined) {
    const child = model(not);
    return { ...child, matched: child.matched === 'error' ? 'error' : !child.matched };
  }
  const children = (and ?? or) as JsonValue[] | undefined;
  if (children === undefined) {
    const answer = (evaluator as { config: LeafAnswer }).config;
    if (answer.fails) return { matched: 'error', confidence: 0, leaves: 1 };
    return { matched: answer.matched, confidence: answer.confidence, leaves: 1 };
  }
  let lowest = 1;
  let leaves = 0;
  for (const child of children) {
    const said = model(child);
    leaves += said.leaves;
    if (said.matched === 'error') return { matched: 'error', confidence: 0, leaves };
    lowest = Math.min(lowest, said.confidence);
    if (said.matched === (or !== undefined)) return { matched: said.matched, confidence: lowest, leaves };
  }
  return { matched: or === undefined, confidence: lowest, leaves };
}

describe('a condition tree', () => {
  it('gives the result of its model, and evaluates no leaf more', () => {
    fc.assert(
      fc.property(treeOf(anyLeaf), (tree) => {
        const expected = model(tree);
        const { control, calls } = resultOf(numbered(tree));
        expect(control?.result.error !== null).toBe(expected.matched === 'error');
        expect(control?.result.matched).toBe(expected.matched === true);
        expect(control?.result.confidence).toBe(expected.confidence);
        expect(calls).toHaveLength(expected.leaves);
      }),
    );
  });

  it('obeys De Morgan', () => {
    fc.assert(
      fc.property(fc.array(treeOf(soundLeaf), { minLength: 1, maxLength: 4 }), (children) => {
        const negated = children.map((not) => ({ not }));
        const left = resultOf({ not: { and: children } }).control?.result;
        const right = resultOf({ or: negated }).control?.result;
        expect([left?.matched, left?.confidence]).toEqual([right?.matched, right?.confidence]);
      }),
    );
  });

  it('gives the same result with detail verdict, without metadata', () => {
    fc.assert(
      fc.property(treeOf(anyLeaf), (tree) => {
        const full = resultOf(tree).verdict;
        const brief = resultOf(tree, 'verdict').verdict;
        const withoutMetadata = (items: ControlResult[]) =>
          items.map((item) => ({ ...item, result: { ...item.result, metadata: null } }));
        expect(brief.matches).toEqual(withoutMetadata(full.matches));
        expect(brief.errors).toEqual(withoutMetadata(full.errors));
        expect(brief.non_matches).toEqual([]);
        expect([brief.is_safe, brief.confidence, brief.reason]).toEqual([
          full.is_safe,
          full.confidence,
          full.reason,
        ]);
      }),
    );
  });
});

describe('the trace of a condition tree', () => {
  /** Every law of traces, checked node by node against the definition. */
  function checkTrace(trace: JsonObject, node: JsonObject, skippedBy: JsonValue | null): void {
    const children = (node.and ?? node.or ?? (node.not === undefined ? [] : [node.not])) as JsonObject[];
    const traces = (trace.children ?? []) as JsonObject[];
    expect(trace.type).toBe(['and', 'or', 'not'].find((kind) => kind in node) ?? 'leaf');
    expect(traces).toHaveLength(children.length);
    if (skippedBy !== null) {
      expect(trace).toMatchObject({ evaluated: false, matched: null, short_circuit_reason: skippedBy });
      for (const [index, child] of children.entries()) checkTrace(traces[index] ?? {}, child, skippedBy);
      return;
    }
    expect(trace.evaluated).toBe(true);
    const said = model(node);
    if (trace.type === 'leaf') expect(trace.matched).toBe(said.matched === true);
    else expect(trace.matched).toBe(said.matched === 'error' ? null : said.matched);
    const reason =
      'not' in node || trace.type === 'leaf'
        ? undefined
        : said.matched === 'error'
          ? 'error'
          : 'and' in node && !said.matched
            ? 'and_failed'
            : 'or' in node && said.matched
              ? 'or_matched'
              : undefined;
    expect(trace.short_circuit_reason).toBe(reason);
    const deciding = children.findIndex((child) => {
      const answer = model(child).matched;
      return answer === 'error' || answer === 'or' in node;
    });
    for (const [index, child] of children.entries()) {
      const skipped = !('not' in node) && deciding !== -1 && index > deciding;
      checkTrace(traces[index] ?? {}, child, skipped ? (reason ?? null) : null);
    }
  }

  it('shows what was evaluated, what was skipped and why', () => {
    fc.assert(
      fc.property(treeOf(anyLeaf), (tree) => {
        checkTrace(traceOf(resultOf(tree).control), tree, null);
      }),
    );
  });

  it('shortens the message of a leaf to 200 characters and an empty one to null', () => {
    const messageOf = (message: string | null) => {
      const evaluator = fakeEvaluator('talker', () => aResult({ message }));
      const verdict = verdictOf([aDefinition(aLeaf('talker'))], aStep(), { evaluators: [evaluator] });
      expect(verdict.matches[0]?.result.message).toBe(message);
      return traceOf(verdict.matches[0]).message;
    };
    expect(messageOf('a'.repeat(300))).toBe(`${'a'.repeat(197)}...`);
    expect(messageOf('')).toBeNull();
    expect(messageOf(null)).toBeNull();
    expect(messageOf('short')).toBe('short');
  });

  it('keeps members of metadata that an evaluator named like the trace out of it', () => {
    const evaluator = fakeEvaluator('forger', () =>
      aResult({ metadata: { condition_trace: 'forged', x: 1 } }),
    );
    const verdict = verdictOf([aDefinition(aLeaf('forger'))], aStep(), { evaluators: [evaluator] });
    expect(verdict.matches[0]?.result.metadata).toMatchObject({ x: 1, condition_trace: { type: 'leaf' } });
  });
});

describe('the metadata of a composite', () => {
  const leaf = (matched: boolean, from: string) =>
    leafOf({ matched, confidence: 1, fails: false, from } as LeafAnswer);
  const failing = leafOf({ matched: false, confidence: 1, fails: true });
  const sourceOf = (condition: JsonObject) => {
    const metadata = resultOf(condition).control?.result.metadata as { from?: { from: string } };
    return metadata.from?.from;
  };

  it.each<[string, JsonObject, string | undefined]>([
    ['a false and: the deciding child', { and: [leaf(true, 'a'), leaf(false, 'b'), leaf(true, 'c')] }, 'b'],
    ['a true and: the first child', { and: [leaf(true, 'a'), leaf(true, 'b')] }, 'a'],
    ['a true or: the deciding child', { or: [leaf(false, 'a'), leaf(true, 'b')] }, 'b'],
    ['a false or: the first child', { or: [leaf(false, 'a'), leaf(false, 'b')] }, 'a'],
    ['not: its child', { not: leaf(true, 'a') }, 'a'],
    ['an error: the failing child', { or: [leaf(false, 'a'), failing] }, undefined],
  ])('%s', (_case, condition, from) => {
    expect(sourceOf(condition)).toBe(from);
  });
});
