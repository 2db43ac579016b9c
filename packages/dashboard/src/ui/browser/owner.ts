const SEPARATOR = '/';

/** Who something is kept for: a caller in a namespace. In `default` it is the caller alone, as before namespaces. */
export function ownerIn(namespace: string, caller: string): string {
  return namespace === 'default' ? caller : `${namespace}${SEPARATOR}${caller}`;
}

/** Whether an owner is this caller, in whichever namespace. */
export function isOwnerOf(caller: string, owner: string): boolean {
  return owner === caller || owner.endsWith(`${SEPARATOR}${caller}`);
}

/** The namespace of an owner. */
export function namespaceOf(owner: string): string {
  const end = owner.indexOf(SEPARATOR);
  return end === -1 ? 'default' : owner.slice(0, end);
}
