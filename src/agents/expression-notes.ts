import type { Warning, WarningCode } from '../contract/warnings/warning.js';
import type { RefusedExpression } from '../controls/control-review.js';
import { type ControlDefinition, leavesOf } from '../controls/definition/definition.js';
import { judgeExpression, type RegisteredStepTypes } from '../controls/expression-inspection.js';
import { problemText } from '../evaluators/cel/problem-text.js';
import { registeredTypes } from './expression-types.js';
import type { StepCatalogue } from './steps-catalogue.js';

/** Most expressions of one definition that are compared with schemas: some 50 ms. */
const MAX_EXPRESSIONS = 100;

/** What the schemas of registered steps say about the expressions of a definition. */
export interface ExpressionNotes {
  readonly notes: readonly Warning[];
  /** Contradictions for which a new expression is refused. */
  readonly refused: readonly RefusedExpression[];
}

/** Compares the expressions of a definition with the schemas of the steps in its scope. */
export function expressionNotes(definition: ControlDefinition, catalogue: StepCatalogue): ExpressionNotes {
  const notes: Warning[] = [];
  const refused: RefusedExpression[] = [];
  let types: RegisteredStepTypes | undefined;
  let left = MAX_EXPRESSIONS;
  for (const { leaf, path } of leavesOf(definition.condition, 'data.condition')) {
    const { expression } = leaf.evaluator.config;
    if (leaf.evaluator.name !== 'cel' || typeof expression !== 'string' || left === 0) continue;
    left -= 1;
    types ??= registeredTypes(definition.scope ?? {}, catalogue);
    const field = `${path}.evaluator.config.expression`;
    const { problems, reads } = judgeExpression(expression, leaf.selector.path ?? '*', types);
    for (const { problem, isError, isOwn } of problems) {
      // Its own problems are found without schemas.
      if (isOwn) continue;
      const code = CODES[problem.code] ?? 'expression_type';
      const message = `${problemText(problem)} (by the schemas of steps that are registered by ${types.owner})`;
      if (isError) refused.push({ expression, warning: { code, field, message } });
      else notes.push({ code, field, message });
    }
    const unknown = unknownRoots(reads, types);
    if (unknown.length > 0) {
      const message =
        `the members of ${unknown.join(' and ')} that it reads are not checked: no step in the scope of the control has ` +
        `been registered with a schema by ${types.owner}`;
      notes.push({ code: 'untyped_expression', field, message });
    }
  }
  return { notes, refused };
}

const CODES: Readonly<Partial<Record<string, WarningCode>>> = {
  always_true: 'always_matches',
  always_false: 'never_matches',
};

/** Those of `input` and `output` of which the expression reads members, and no schema says anything. */
function unknownRoots(reads: readonly string[], { likely }: RegisteredStepTypes): string[] {
  return (['input', 'output'] as const).filter(
    (root) =>
      likely[root].kind === 'any' &&
      reads.some((read) => read.startsWith(root) && /[.[]/.test(read[root.length] ?? '')),
  );
}
