import { isObject, type JsonObject, type JsonValue } from '../../../exact-json/src/index.js';

/** The order of members, by the path of their object; members that are not listed keep their order behind them. */
const ORDER: { readonly [path: string]: readonly string[] } = {
  '': [
    'kind',
    'name',
    'namespace',
    'policy',
    'version',
    'enabled',
    'every_agent',
    'agent_labels',
    'controls',
    'policies',
    'installed',
    'data',
  ],
  data: [
    'description',
    'enabled',
    'execution',
    'scope',
    'condition',
    'action',
    'tags',
    'template',
    'template_values',
  ],
  'data.action': ['decision', 'steering_context', 'approval', 'modify'],
};

/** The name of the member that a path of members ends with, or -1 behind all that are listed. */
export function rankOf(path: string, name: string): number {
  const index = ORDER[path]?.indexOf(name) ?? -1;
  return index < 0 ? Number.MAX_SAFE_INTEGER : index;
}

/** Paths of the objects whose members have an order. */
export const ORDERED_PATHS: readonly string[] = Object.keys(ORDER);

/** A document with its members in the order in which `format` and `export` write them. */
export function inOrder(value: JsonObject, path = ''): JsonObject {
  const members = Object.entries(value)
    .map(([name, member]): [string, JsonValue] => {
      const below = path === '' ? name : `${path}.${name}`;
      return [name, isObject(member) && ORDERED_PATHS.includes(below) ? inOrder(member, below) : member];
    })
    .sort(([a], [b]) => rankOf(path, a) - rankOf(path, b));
  return Object.fromEntries(members);
}
