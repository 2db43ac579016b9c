/** A node of a parser's tree, or the members of one. */
export type Node = Readonly<Record<string, unknown>>;

/** Whether a value of the tree has members. */
export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

/** The nodes of a list; empty for anything else. */
export function listOf(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}
