import type { RpcMethod } from '../descriptors/rpc-methods.js';

/** The whole queries, by what was read from them. */
const whole = new WeakMap<object, URLSearchParams>();

/** The parameters of a query; of one that is repeated the last value, on which deployed clients may rely. */
export function parseQuery(text: string): Record<string, string> {
  const all = new URLSearchParams(text);
  const last = Object.fromEntries(all);
  if (text !== '') whole.set(last, all);
  return last;
}

/** Whether a query has a parameter more than once. */
export function isRepeated(query: object, name: string): boolean {
  return (whole.get(query)?.getAll(name).length ?? 0) > 1;
}

/** The parameters of a query that are lists in the request of an RPC, with all values. */
export function queryLists({ desc }: Pick<RpcMethod, 'desc'>, query: object): Record<string, string[]> {
  const all = whole.get(query);
  if (all === undefined) return {};
  const lists = desc.input.fields.filter(({ fieldKind, name }) => fieldKind === 'list' && all.has(name));
  return Object.fromEntries(lists.map(({ name }) => [name, all.getAll(name)]));
}
