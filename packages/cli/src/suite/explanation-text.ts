import type { ConditionExplanation } from '../../../../src/observe/explain/condition-explanation.js';
import type { ControlExplanation } from '../../../../src/observe/explain/explanation.js';
import { shorten } from '../../../linear-text/src/index.js';
import type { Paint } from '../context.js';

export interface TextOptions {
  readonly paint: Paint;
  /** Columns of the terminal. */
  readonly width: number;
}

/** Most nodes of one condition that are shown, and the deepest indentation. */
const MAX_NODES = 200;
const MAX_INDENT = 20;
const LEAST_WIDTH = 40;

/** How a control was evaluated: a line for the control, and one for each node of its condition. Values are masked. */
export function explanationLines(one: ControlExplanation, { paint, width }: TextOptions): string[] {
  const { control_name: name, decision, applies, message, condition, warnings } = one;
  const lines = [`${paint('bold', name)} ${paint('dim', `(${decision ?? 'unreadable'})`)} ${message}`];
  if (condition !== null) {
    const nodes = [...nodeLines(condition, 1, { paint, width })];
    lines.push(...nodes.slice(0, MAX_NODES));
    if (nodes.length > MAX_NODES) lines.push(`  … and ${nodes.length - MAX_NODES} more nodes`);
  } else if (applies) lines.push('  its condition is too large to be shown here');
  for (const { field, message: warning } of warnings) {
    lines.push(`  ${paint('yellow', 'note')} ${field}: ${oneLine(warning)}`);
  }
  return lines;
}

function* nodeLines(node: ConditionExplanation, depth: number, options: TextOptions): Generator<string> {
  const { paint, width } = options;
  const indent = '  '.repeat(Math.min(depth, MAX_INDENT));
  const room = Math.max(LEAST_WIDTH, width - indent.length - 2);
  const mark = markOf(node, paint);
  if (node.type !== 'leaf') {
    const why =
      node.short_circuit_reason === null ? '' : paint('dim', ` ${REASONS[node.short_circuit_reason] ?? ''}`);
    yield `${indent}${mark} ${node.type}${why}`;
    for (const child of node.children) yield* nodeLines(child, depth + 1, options);
    return;
  }
  const {
    selector_path: path,
    evaluator_name: evaluator,
    evaluated,
    error,
    message,
    selected,
    findings,
  } = node;
  const said = error ?? message ?? '';
  const text = evaluated ? oneLine(said) : (REASONS[node.short_circuit_reason ?? ''] ?? 'not evaluated');
  yield `${indent}${mark} ${shorten(`${path} ${evaluator}: ${text}`, room)}`;
  const value = selected.type === 'null' ? 'nothing' : `${selected.type} ${oneLine(selected.text)}`;
  yield `${indent}  ${paint('dim', shorten(`checked ${value}`, room))}`;
  for (const { text: part, evaluated: has, value: of, error: failed } of node.expression_values) {
    const result = failed ?? (has && of !== null ? oneLine(of.text) : 'not evaluated');
    yield `${indent}  ${paint('dim', shorten(`${oneLine(part)} = ${result}`, room))}`;
  }
  for (const { kind, path: place, start, end } of findings) {
    yield `${indent}  ${paint('dim', shorten(`found ${kind} at ${place}, ${start} to ${end}`, room))}`;
  }
}

function markOf({ evaluated, matched, ...node }: ConditionExplanation, paint: Paint): string {
  if (!evaluated) return paint('dim', '-');
  if (matched === null || ('error' in node && node.error !== null)) return paint('red', '!');
  return matched ? paint('green', '✓') : paint('yellow', '✗');
}

const REASONS: Readonly<Record<string, string>> = {
  and_failed: 'not evaluated: a part of the "and" before it did not match',
  or_matched: 'not evaluated: a part of the "or" before it matched',
  error: 'not evaluated after an error',
  denied: 'not evaluated: another control denied the step',
};

/** Control characters could change the terminal, and lines break the tree. */
function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced.
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
}
