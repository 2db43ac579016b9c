import { analyse, TYPE_CODES } from './analysis.js';
import { countNodes, type Node } from './ast.js';
import type { Checked } from './check.js';
import { evaluateIn } from './evaluation.js';
import { findReads, findRequired } from './facts.js';
import { ExpressionError } from './problem.js';
import { type Code, Run } from './run.js';
import { createTrace } from './trace.js';
import type {
  CelType,
  CompiledExpression,
  CompileOptions,
  ExpressionProblem,
  ExpressionProblemCode,
  RequiredTexts,
  VariableTypes,
} from './types.js';
import { workBound } from './work-bound.js';

const NEVER_FATAL = new Set<ExpressionProblemCode>(['always_true', 'always_false']);
/** Estimated memory of a closure with its node. */
const BYTES_PER_NODE = 400;

/**
 * Compiles an expression over variables. Throws an `ExpressionError` with all problems of its text; with those of its types
 * too if `strictTypes`, which are listed in `problems` otherwise.
 */
export function compileExpression(
  text: string,
  { variables, strictTypes }: CompileOptions,
): CompiledExpression {
  const { tree, checked, compiled, patterns, problems } = analyse(text, variables);
  const fatal = problems.filter(
    ({ code }) => !NEVER_FATAL.has(code) && (strictTypes || !TYPE_CODES.has(code)),
  );
  if (fatal.length > 0 || tree === null || checked === null || compiled === null)
    throw new ExpressionError(fatal);
  const { code, constant } = compiled;
  const nodes = countNodes(tree);
  const evaluateOnce = createEvaluation(code, nodes, variables.size, checked.slots);
  const patternBytes = [...patterns.values()].reduce((sum, pattern) => sum + pattern.sizeBytes, 0);
  return {
    text,
    nodes,
    reads: readsOf(tree, checked),
    requires: findRequired(tree, new Set(variables.keys())),
    constant: typeof constant === 'boolean' ? constant : null,
    sizeBytes: 500 + text.length * 2 + nodes * BYTES_PER_NODE + patternBytes,
    problems,
    workBound: (size) => workBound(tree, nodes, size),
    evaluate: evaluateOnce,
    trace: createTrace({ text, tree, checked, patterns, variables: variables.size, nodes }),
  };
}

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

/** The members that a checked expression reads. */
function readsOf(tree: Node, checked: Checked): readonly string[] {
  return findReads(tree, (node) => node.kind === 'name' && checked.names.get(node)?.kind === 'variable');
}

/** An evaluation that takes one state from use to use: an evaluation does not allocate one. */
function createEvaluation(
  code: Code,
  nodes: number,
  variables: number,
  slots: number,
): CompiledExpression['evaluate'] {
  const shared = new Run(variables, slots);
  return (values, nowMs, spend) => {
    const run = shared.isBusy ? new Run(variables, slots) : shared;
    return evaluateIn(run, code, nodes, values, nowMs, spend);
  };
}
