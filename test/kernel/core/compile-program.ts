import { createHash } from 'node:crypto';
import type { EvaluatorRegistry } from '../../../src/kernel/core/evaluator.js';
import { createPartFactory } from '../../../src/kernel/core/evaluator-part.js';
import { prepareControl } from '../../../src/kernel/core/prepared-control.js';
import { linkProgram, type ProgramOptions } from '../../../src/kernel/core/program.js';
import type { ControlInput, ControlProgram } from '../../../src/kernel/core/types.js';

export type { ControlFailure } from '../../../src/kernel/core/linked-control.js';

/** What a program needs from outside. */
export interface CompileOptions extends ProgramOptions {
  readonly registry: EvaluatorRegistry;
}

/**
 * Compiles controls, in any order, to a program. Never throws: a control that cannot be compiled becomes one that
 * cannot be evaluated, which fails closed.
 */
export function compileProgram(controls: readonly ControlInput[], options: CompileOptions): ControlProgram {
  const partOf = createPartFactory(options.registry);
  return linkProgram(
    controls.map(({ id, name, definition }) => ({
      id,
      name,
      prepared: prepareControl(definition, partOf, sha256),
    })),
    options,
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
