import { compilePattern, estimateCost, type LinearPattern } from '../../linear-text/src/index.js';
import { childrenOf, type Node } from './ast.js';
import { type Checked, checkTypes } from './check.js';
import { type Compiled, compileTree } from './compile.js';
import { findForegone, findRequired } from './facts.js';
import { MAX_PATTERN_INSTRUCTIONS } from './limits.js';
import { parseExpression } from './parse-text.js';
import { ProblemList } from './problem.js';
import type { Token } from './tokens.js';
import type { ExpressionProblem, ExpressionProblemCode, VariableTypes } from './types.js';

/** Problems with which an expression can be evaluated all the same. */
export const TYPE_CODES: ReadonlySet<ExpressionProblemCode> = new Set(['type', 'unknown_member', 'result']);

/** An expression as far as it could be understood. */
export interface Analysis {
  readonly tokens: readonly Token[];
  readonly tree: Node | null;
  /** Null without a tree. */
  readonly checked: Checked | null;
  /** Null with a problem that is not of types. */
  readonly compiled: Compiled | null;
  readonly patterns: ReadonlyMap<Node, LinearPattern>;
  /** In order of the text. */
  readonly problems: readonly ExpressionProblem[];
}

/** Parses and checks an expression, and compiles its patterns. Never throws. */
export function analyse(text: string, variables: VariableTypes): Analysis {
  const { tree, problems: syntax, tokens } = parseExpression(text);
  const patterns = new Map<Node, LinearPattern>();
  if (tree === null) return { tokens, tree, checked: null, compiled: null, patterns, problems: syntax };
  const list = new ProblemList();
  const checked = checkTypes(tree, variables, list);
  compilePatterns(tree, patterns, list);
  const isSound = list.problems.every(({ code }) => TYPE_CODES.has(code));
  if (!isSound) return { tokens, tree, checked, compiled: null, patterns, problems: inOrder(list) };
  const ordered = requirementsFirst(tree, new Set(variables.keys()));
  const compiled = compileTree(ordered, { text, checked, patterns });
  const { constant } = compiled;
  const foregone = typeof constant === 'boolean' ? { value: constant, span: tree } : findForegone(tree);
  if (foregone !== null && list.problems.length === 0) {
    const code = foregone.value ? 'always_true' : 'always_false';
    list.add(code, foregone.span, `this makes the expression always ${foregone.value}`);
  }
  return { tokens, tree, checked, compiled, patterns, problems: inOrder(list) };
}

function inOrder({ problems }: ProblemList): readonly ExpressionProblem[] {
  return [...problems].sort((one, other) => one.start - other.start);
}

/** Patterns are constants: compiling one may take longer than an evaluation may. */
function compilePatterns(node: Node, patterns: Map<Node, LinearPattern>, problems: ProblemList): void {
  for (const child of childrenOf(node)) compilePatterns(child, patterns, problems);
  if (node.kind !== 'call' || node.name !== 'matches') return;
  const pattern = node.args[1];
  if (pattern === undefined) return;
  if (pattern.kind !== 'const' || typeof pattern.value !== 'string') {
    problems.add('limit', pattern, 'the pattern of matches must be a constant text');
    return;
  }
  try {
    const { instructions } = estimateCost(pattern.value, false);
    if (instructions > MAX_PATTERN_INSTRUCTIONS) {
      const message = `the pattern is too large: about ${instructions} instructions, more than ${MAX_PATTERN_INSTRUCTIONS}`;
      problems.add('limit', pattern, message);
      return;
    }
    patterns.set(node, compilePattern(pattern.value));
  } catch (error) {
    problems.add('syntax', pattern, error instanceof Error ? error.message : 'the pattern is invalid');
  }
}

/**
 * The expression with the terms first that compare a variable with texts. The result is the same, as `&&` ignores the errors of
 * other terms where one is false; and a step of another name costs no more than the comparison.
 */
function requirementsFirst(tree: Node, variables: ReadonlySet<string>): Node {
  if (tree.kind !== 'and') return tree;
  const isRequirement = (term: Node) => findRequired(term, variables).length > 0;
  const [first, rest] = [tree.terms.filter(isRequirement), tree.terms.filter((term) => !isRequirement(term))];
  return { ...tree, terms: [...first, ...rest] };
}
