import { namespaceOf } from './owner.js';

let owner: string | undefined;

/** Has what this page stores from now on kept for an owner: a caller in a namespace. */
export function storeFor(next: string): void {
  owner = next;
}

/** The namespace that this page shows. */
export function storedNamespace(): string {
  return namespaceOf(owner ?? '');
}

/** Something that this browser keeps for each owner by itself. */
export interface OwnedItem {
  /** What the owner has; without it, what was kept for all before there were owners, unless that is another namespace. */
  read(): string | null;
  write(text: string): void;
  /** Forgets it for all owners. */
  forget(): void;
}

/** An item of the storage of the browser, by its name. */
export function ownedItem(name: string): OwnedItem {
  const key = () => (owner === undefined ? name : `${name} ${owner}`);
  return {
    read: () =>
      localStorage.getItem(key()) ?? (storedNamespace() === 'default' ? localStorage.getItem(name) : null),
    write: (text) => localStorage.setItem(key(), text),
    forget() {
      const all = Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index));
      for (const stored of all) {
        if (stored === name || stored?.startsWith(`${name} `)) localStorage.removeItem(stored);
      }
    },
  };
}
