import { jsonLanguage } from '@codemirror/lang-json';
import { type ConditionNode, childrenOf, kindOf, type NodePath } from './condition-tree.js';

/** Names of members and indexes of items, from the definition down to a value. */
export type JsonPath = readonly (string | number)[];

/** A part of a text. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

type ParsedText = ReturnType<typeof jsonLanguage.parser.parse>;
type TextNode = ParsedText['topNode'];

/**
 * The place of a value in a JSON text, or of the nearest value around it that exists. Null without any value. A text
 * that is parsed already need not be parsed again.
 */
export function jsonPlace(
  text: string,
  path: JsonPath,
  parsed: ParsedText = jsonLanguage.parser.parse(text),
): TextRange | null {
  const root = valueBelow(parsed.topNode);
  if (root === null) return null;
  let node = root;
  for (const step of path) {
    const below: TextNode | null = typeof step === 'number' ? itemOf(node, step) : memberIn(text, node, step);
    if (below === null) break;
    node = below;
  }
  return { from: node.from, to: node.to };
}

function memberIn(text: string, object: TextNode, name: string): TextNode | null {
  if (object.name !== 'Object') return null;
  for (const property of object.getChildren('Property')) {
    const key = property.getChild('PropertyName');
    if (key !== null && unquoted(text.slice(key.from, key.to)) === name) {
      const { lastChild } = property;
      return lastChild === null || lastChild.name === 'PropertyName' ? null : lastChild;
    }
  }
  return null;
}

function itemOf(array: TextNode, index: number): TextNode | null {
  if (array.name !== 'Array') return null;
  let at = 0;
  for (let child = array.firstChild; child !== null; child = child.nextSibling) {
    if (!isValue(child)) continue;
    if (at === index) return child;
    at += 1;
  }
  return null;
}

function valueBelow(node: TextNode): TextNode | null {
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (isValue(child)) return child;
  }
  return null;
}

function isValue({ name }: TextNode): boolean {
  return /^(?:Object|Array|String|Number|True|False|Null)$/.test(name);
}

function unquoted(name: string): string | null {
  try {
    return JSON.parse(name) as string;
  } catch {
    return null;
  }
}

/** The JSON path of a node of the condition. */
export function nodeJsonPath(root: ConditionNode, path: NodePath): JsonPath {
  const steps: (string | number)[] = ['condition'];
  let node = root;
  for (const index of path) {
    const kind = kindOf(node);
    steps.push(...(kind === 'not' ? ['not'] : [kind, index]));
    node = childrenOf(node)[index];
  }
  return steps;
}

/** The JSON path of a member as the server names it. Members of a configuration may be named without `config`. */
export function fieldJsonPath(field: string): JsonPath {
  const steps = [...field.matchAll(/[^.[\]]+|\[(\d+)\]/g)].map(([name, index]) =>
    index === undefined ? name : Number(index),
  );
  const path = steps[0] === 'data' ? steps.slice(1) : steps;
  const at = path.indexOf('evaluator');
  const member = path[at + 1];
  if (at < 0 || member === undefined || /^(?:name|config|metadata)$/.test(String(member))) return path;
  return [...path.slice(0, at + 1), 'config', ...path.slice(at + 1)];
}
