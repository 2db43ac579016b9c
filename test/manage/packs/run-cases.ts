import { createOfflineJudge } from '../../../packages/cli/src/offline/offline-judge.js';
import { packSuites } from '../../../packages/cli/src/suite/pack-suites.js';
import { runSuites } from '../../../packages/cli/src/suite/run-suites.js';
import type { EvaluatorRegistry } from '../../../src/kernel/core/evaluator.js';

/** The cases of the controls of a pack whose result is not the expected one, by control, as `control-enforcement test` runs them. */
export async function wrongCases(
  folder: string,
  registry: EvaluatorRegistry,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const suites = await packSuites(folder, registry);
  const { results } = await runSuites(suites, {
    judgeOf: ({ controls }) => {
      if (controls === null) throw new Error('a suite of a pack has controls');
      return createOfflineJudge(controls, registry);
    },
  });
  return new Map(
    suites.map((suite) => [
      suite.name.slice(suite.name.indexOf('/') + 1),
      results
        .filter((one) => one.suite === suite && one.status !== 'passed')
        .map(({ of, reasons }) => `${of.name}: ${reasons.join('; ')}`),
    ]),
  );
}
