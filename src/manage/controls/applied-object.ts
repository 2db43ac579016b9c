/** What an object is stored as, in the order in which objects are listed and created. */
export const FAMILIES = ['control', 'policy', 'pack', 'links'] as const;
export type Family = (typeof FAMILIES)[number];

/** Identifies an object in a namespace. */
export interface ObjectName {
  readonly family: Family;
  readonly name: string;
  /** For packs. */
  readonly policy?: string;
}

/** A text for each object, by which they are told apart. */
export function objectKey({ family, name, policy = '' }: ObjectName): string {
  return `${family}/${family === 'pack' ? `${policy}/` : ''}${name}`;
}

/** The object of such a text. */
export function objectOfKey(key: string): ObjectName {
  const [family = '', ...rest] = key.split('/');
  const [first = '', second] = rest;
  const found = FAMILIES.find((one) => one === family) ?? 'control';
  return second === undefined
    ? { family: found, name: first }
    : { family: found, name: second, policy: first };
}

/** What is remembered of an object that was applied. */
export interface AppliedObject extends ObjectName {
  readonly owner: string;
  /** Of what was applied. */
  readonly digest: string;
  /** What was applied, where something else is stored because it was merged. */
  readonly base: string | null;
}
