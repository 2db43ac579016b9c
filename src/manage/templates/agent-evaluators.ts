import { isObject, type JsonValue } from '../../../packages/exact-json/src/index.js';

/**
 * The path of the first evaluator name with a colon, which belongs to one agent, in the condition of a
 * definition or of its template; null when there is none. The condition may have any shape.
 */
export function findAgentEvaluator(definition: JsonValue): readonly PropertyKey[] | null {
  return isObject(definition) ? inNode(own(definition, 'condition'), ['condition']) : null;
}

function inNode(node: JsonValue | undefined, path: readonly PropertyKey[]): readonly PropertyKey[] | null {
  if (!isObject(node)) return null;
  const evaluator = own(node, 'evaluator');
  const name = isObject(evaluator) ? own(evaluator, 'name') : undefined;
  if (typeof name === 'string' && name.includes(':')) return [...path, 'evaluator', 'name'];
  for (const kind of ['and', 'and_', 'or', 'or_']) {
    const children = own(node, kind);
    if (!Array.isArray(children)) continue;
    for (const [index, child] of children.entries()) {
      const found = inNode(child, [...path, kind, index]);
      if (found !== null) return found;
    }
  }
  for (const kind of ['not', 'not_']) {
    const found = inNode(own(node, kind), [...path, kind]);
    if (found !== null) return found;
  }
  return null;
}

function own(value: { [key: string]: JsonValue }, name: string): JsonValue | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
