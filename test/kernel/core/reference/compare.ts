import fc from 'fast-check';
import { expect } from 'vitest';
import type { ControlResult, Verdict } from '../../../../src/kernel/core/types.js';
import { createRegistry } from '../../../../src/kernel/evaluators/load-evaluators.js';
import { compileProgram } from '../compile-program.js';
import { aGeneratedStage, aGeneratedStep, EVALUATORS, generatedControls } from './generate.js';
import { interpret, type ReferenceVerdict } from './interpret.js';

/** Steps per generated set of controls: a program must not remember anything of one step at the next. */
const STEPS = 5;

/** What was seen, to tell that the generator reaches what it is for. */
export interface Seen {
  pairs: number;
  matches: number;
  errors: number;
  nonMatches: number;
  unsafe: number;
  promises: number;
}

/** Holds the compiled core against the reference on `pairs` pairs of controls and a step. */
export async function compareWithReference(pairs: number, seed: number): Promise<Seen> {
  const registry = createRegistry(EVALUATORS);
  const seen: Seen = { pairs: 0, matches: 0, errors: 0, nonMatches: 0, unsafe: 0, promises: 0 };
  const steps = fc.array(fc.tuple(aGeneratedStep, aGeneratedStage), { minLength: STEPS, maxLength: STEPS });
  const property = fc.asyncProperty(generatedControls, steps, async (controls, some) => {
    const program = compileProgram(controls, { registry, newExecutionId: () => 'id' });
    for (const [step, stage] of some) {
      const expected = await interpret(controls, step, stage, registry);
      const full = program.evaluate(step, stage, 'full');
      const brief = program.evaluate(step, stage, 'verdict');
      expect(withoutIds(await full)).toEqual(expected);
      expect(withoutIds(await brief)).toEqual(withoutDetail(expected));
      seen.pairs += 1;
      seen.matches += expected.matches.length;
      seen.errors += expected.errors.length;
      seen.nonMatches += expected.non_matches.length;
      if (!expected.is_safe) seen.unsafe += 1;
      if (full instanceof Promise) seen.promises += 1;
    }
  });
  await fc.assert(property, { seed, numRuns: Math.ceil(pairs / STEPS) });
  return seen;
}

function withoutIds(verdict: Verdict): ReferenceVerdict {
  const bare = (items: readonly ControlResult[]) =>
    items.map(({ control_execution_id: _free, ...item }) => item);
  const { matches, errors, non_matches } = verdict;
  return { ...verdict, matches: bare(matches), errors: bare(errors), non_matches: bare(non_matches) };
}

function withoutDetail(verdict: ReferenceVerdict): ReferenceVerdict {
  const bare = (items: ReferenceVerdict['matches']) =>
    items.map((item) => ({ ...item, result: { ...item.result, metadata: null } }));
  return { ...verdict, matches: bare(verdict.matches), errors: bare(verdict.errors), non_matches: [] };
}
