import { analyse } from './analysis.js';
import { countNodes } from './ast.js';
import { readsOf } from './compile-expression.js';
import { findRequired } from './facts.js';
import type { CelType, ExpressionProblem, RequiredTexts, VariableTypes } from './types.js';

/** What is known about the text of an expression. */
export interface InspectedExpression {
  /** All problems, in order of the text. */
  readonly problems: readonly ExpressionProblem[];
  /** Type of its result; null if the text is no expression. */
  readonly resultType: CelType | null;
  readonly reads: readonly string[];
  readonly requires: readonly RequiredTexts[];
  readonly nodes: number;
}

/** Checks the text of an expression without compiling it, for editors. Never throws. */
export function inspectExpression(text: string, variables: VariableTypes): InspectedExpression {
  const { tree, checked, problems } = analyse(text, variables);
  if (tree === null || checked === null) {
    return { problems, resultType: null, reads: [], requires: [], nodes: 0 };
  }
  const requires = findRequired(tree, new Set(variables.keys()));
  return {
    problems,
    resultType: checked.type,
    reads: readsOf(tree, checked),
    requires,
    nodes: countNodes(tree),
  };
}
