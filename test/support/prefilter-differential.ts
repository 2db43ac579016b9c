import fc from 'fast-check';
import { RE2JS } from 're2js';
import { createPrefilter } from '../../packages/linear-text/src/index.js';
import type { CompiledEvaluator } from '../../src/kernel/core/evaluator.js';
import { regexEvaluator } from '../../src/kernel/evaluators/regex/regex.js';
import { FULL_CALL } from './check-call.js';
import { type PatternCase, patternCase, textOver } from './pattern-cases.js';

/** What a run of the differential test has seen. */
export interface PrefilterReport {
  /** Pairs of a pattern and a text. */
  pairs: number;
  found: number;
  /** Pairs that the prefilter answered by itself. */
  ruledOut: number;
}

interface Compiled {
  readonly pattern: string;
  readonly engine: RE2JS;
  readonly evaluator: CompiledEvaluator;
}

/**
 * Compares, for generated sets of patterns and texts, what the regex evaluator says with what it would say behind the
 * prefilter, and both with the regex engine. Throws where they differ.
 */
export function comparePrefilter(cases: number, seed: number): PrefilterReport {
  const report: PrefilterReport = { pairs: 0, found: 0, ruledOut: 0 };
  const sets = fc.array(patternCase, { minLength: 1, maxLength: 5 }).chain((patterns) =>
    fc.record({
      patterns: fc.constant(patterns),
      text: textOver(patterns.flatMap(({ pieces }) => pieces)),
    }),
  );
  fc.assert(
    fc.property(sets, ({ patterns, text }) => {
      const compiled = patterns.flatMap(compile);
      const prefilter = createPrefilter(
        compiled.map(({ evaluator }) => evaluator.prefilter?.literals ?? null),
      );
      const into = new Uint8Array(compiled.length).fill(7);
      prefilter.scan(text, into);
      compiled.forEach(({ pattern, engine, evaluator }, index) => {
        const context = `${JSON.stringify(pattern)} in ${JSON.stringify(text)}`;
        const expected = engine.test(text);
        const result = evaluator.evaluate(text, FULL_CALL) as { matched: boolean };
        if (result.matched !== expected) throw new Error(`the evaluator is wrong about ${context}`);
        report.pairs += 1;
        if (expected) report.found += 1;
        if (into[index] !== 0) return;
        report.ruledOut += 1;
        if (result !== evaluator.prefilter?.miss) throw new Error(`the prefilter rules out ${context}`);
      });
    }),
    { numRuns: cases, seed, endOnFailure: false },
  );
  return report;
}

function compile({ pattern, ignoreCase }: PatternCase): Compiled[] {
  try {
    const engine = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    const flags = ignoreCase ? ['I'] : [];
    return [{ pattern, engine, evaluator: regexEvaluator.compile({ pattern, flags }) }];
  } catch {
    // Some generated patterns are not valid, for example those with two groups of the same name.
    return [];
  }
}
