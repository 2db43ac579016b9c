/** Keys that are one for all namespaces, in a slot of their own: the clock, and the set of namespaces. */
export const CLOCK_KEY = '{ces}:clock';
export const NAMESPACES_KEY = '{ces}:namespaces';

const MEMBERS = ['m', 'u', 's', 'x', 'h'] as const;

/** Key of what a namespace keeps, see scripts.ts. The name of the namespace is its hash tag. */
export function namespaceKey(namespace: string, member: (typeof MEMBERS)[number]): string {
  return `{ces:${namespace}}:${member}`;
}

/** Key of the rules of a namespace, in the slot of the clock. */
export function rulesKey(namespace: string): string {
  return `{ces}:rules:${namespace}`;
}

/** The two keys of a cell. */
export function cellKeys(namespace: string, id: string): [cell: string, entries: string] {
  return [`{ces:${namespace}}:c:${id}`, `{ces:${namespace}}:e:${id}`];
}

/** The keys of a script: those of the namespace, and of cells. */
export function scriptKeys(namespace: string, ids: readonly string[]): string[] {
  return [
    ...MEMBERS.map((member) => namespaceKey(namespace, member)),
    ...ids.flatMap((id) => cellKeys(namespace, id)),
  ];
}
