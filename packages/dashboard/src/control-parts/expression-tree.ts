import type { ExpressionValue } from '@gen/enforcement/v1/evaluation_service_pb.js';

/** A sub-expression with those inside it. */
export interface ExpressionNode {
  readonly value: ExpressionValue;
  readonly inside: readonly ExpressionNode[];
}

interface OpenNode {
  readonly value: ExpressionValue;
  readonly inside: OpenNode[];
}

/** A literal says its value itself, and a whole part of the step is beside it already. */
const SAID = /^(?:"[^"]*"|'[^']*'|-?[0-9][0-9a-zA-Z.]*|true|false|null|input|output|context|agent)$/;

/** The sub-expressions by what contains what, in order of the text, each place once, without those that tell nothing. */
export function expressionTree(values: readonly ExpressionValue[]): readonly ExpressionNode[] {
  const ordered = values
    .toSorted((one, other) => one.start - other.start || other.end - one.end)
    .filter(({ text }, index) => index === 0 || !SAID.test(text));
  const roots: OpenNode[] = [];
  const open: OpenNode[] = [];
  let last: ExpressionValue | undefined;
  for (const value of ordered) {
    if (last?.start === value.start && last.end === value.end) continue;
    last = value;
    while (open.length > 0 && (open.at(-1)?.value.end ?? 0) < value.end) open.pop();
    const node: OpenNode = { value, inside: [] };
    (open.at(-1)?.inside ?? roots).push(node);
    open.push(node);
  }
  return roots;
}

/** The number of sub-expressions in a tree. */
export function treeSize(nodes: readonly ExpressionNode[]): number {
  return nodes.reduce((size, { inside }) => size + 1 + treeSize(inside), 0);
}
