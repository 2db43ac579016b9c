import type { LinearPattern } from '../../linear-text/src/index.js';
import { childrenOf, type Node } from './ast.js';
import type { Checked } from './check.js';
import { compileTree } from './compile.js';
import { evaluateIn } from './evaluation.js';
import { jsonOfValue } from './json-of-value.js';
import { MAX_TRACED } from './limits.js';
import { Run } from './run.js';
import type { CompiledExpression, TracedExpression } from './types.js';
import { Fault, kindOf, TYPE_NAMES, type Value } from './values.js';

export interface Traceable {
  readonly text: string;
  readonly tree: Node;
  readonly checked: Checked;
  readonly patterns: ReadonlyMap<Node, LinearPattern>;
  readonly variables: number;
  readonly nodes: number;
}

/**
 * An evaluation that records the value of each sub-expression; inside a macro, the last one. Its code is compiled when it is
 * first used: nothing is left out there because it is constant.
 */
export function createTrace(traceable: Traceable): CompiledExpression['trace'] {
  const { text, tree, checked, patterns, variables, nodes } = traceable;
  let values = new Map<Node, Value>();
  let code: ReturnType<typeof compileTree>['code'] | undefined;
  return (given, nowMs) => {
    code ??= compileTree(tree, {
      text,
      checked,
      patterns,
      recorder: (node, value) => {
        values.set(node, value);
      },
    }).code;
    values = new Map();
    const run = new Run(variables, checked.slots);
    const result = evaluateIn(run, code, nodes, given, nowMs);
    const parts = tracedNodes(tree).map((node) => part(node, values.get(node)));
    values = new Map();
    return { result, parts };
  };
}

/** The nodes of a trace: all but constants, outermost first. */
function tracedNodes(tree: Node): readonly Node[] {
  const found: Node[] = [];
  let level: readonly Node[] = [tree];
  while (level.length > 0 && found.length < MAX_TRACED) {
    found.push(...level.filter(({ kind }) => kind !== 'const'));
    level = level.flatMap(childrenOf);
  }
  return found.slice(0, MAX_TRACED);
}

function part({ start, end }: Node, value: Value | undefined): TracedExpression {
  if (value === undefined) return { start, end, type: null, value: undefined, error: null };
  if (value instanceof Fault) return { start, end, type: null, value: undefined, error: value.message };
  return { start, end, type: TYPE_NAMES[kindOf(value)], value: jsonOfValue(value), error: null };
}
