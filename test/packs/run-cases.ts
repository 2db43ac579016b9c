import { setImmediate as nextTurn } from 'node:timers/promises';
import { applicabilityOf } from '../../src/core/applicability.js';
import type { EvaluatorRegistry } from '../../src/core/evaluator.js';
import { createPartFactory } from '../../src/core/evaluator-part.js';
import { prepareControl } from '../../src/core/prepared-control.js';
import { linkProgram } from '../../src/core/program.js';
import { withTimeout } from '../../src/database/in-time.js';
import type { PackControl } from '../../src/packs/pack.js';

/** The cases of a control whose result is not the expected one, each as a sentence. */
export async function wrongCases(control: PackControl, registry: EvaluatorRegistry): Promise<string[]> {
  const { definition } = control;
  const prepared = prepareControl(definition, createPartFactory(registry));
  const program = linkProgram([{ id: 1, name: control.key, prepared }], {
    newExecutionId: () => 'execution',
    withTimeout,
    nextTurn,
  });
  const wrong: string[] = [];
  for (const { name, step, stage, matches } of control.cases) {
    const place = `${matches ? 'matching' : 'other'} case "${name}"`;
    const { errors, matches: found } = await program.evaluate(step, stage, 'full');
    const { reason } = applicabilityOf(definition, prepared, step, stage);
    const [error] = errors;
    if (error !== undefined) wrong.push(`${place} cannot be evaluated: ${error.result.error}`);
    else if (found.length > 0 && !matches) wrong.push(`${place} matches: ${found[0]?.result.message}`);
    else if (found.length === 0 && matches) {
      wrong.push(`${place} does not match${reason === 'applies' ? '' : `: it is out of scope (${reason})`}`);
    }
  }
  return wrong;
}
