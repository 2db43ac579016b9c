/** A sealed draft. Its content cannot be read without the key of its owner. */
export interface SealedDraft {
  readonly owner: string;
  /** What it is a draft of, for example `control 5`. */
  readonly place: string;
  readonly savedAt: number;
  readonly nonce: Uint8Array<ArrayBuffer>;
  readonly content: ArrayBuffer;
}

const NAME = 'control-drafts';
const VERSION = 1;
const KEYS = 'keys';
const DRAFTS = 'drafts';

let opened: Promise<IDBDatabase> | undefined;

/** The keys of owners and their sealed drafts, in IndexedDB: the one store of browsers that can hold a key. */
export const draftDatabase = {
  /** The key of an owner; the given one becomes it if there is none. */
  async keyOf(owner: string, fresh: CryptoKey): Promise<CryptoKey> {
    return inStore(KEYS, 'readwrite', async (keys) => {
      const known = (await done(keys.get(owner))) as CryptoKey | undefined;
      if (known === undefined) await done(keys.put(fresh, owner));
      return known ?? fresh;
    });
  },
  forgetKey: (owner: string): Promise<unknown> =>
    inStore(KEYS, 'readwrite', (keys) => done(keys.delete(owner))),
  read: (owner: string, place: string): Promise<SealedDraft | undefined> =>
    inStore(DRAFTS, 'readonly', (drafts) => done(drafts.get([owner, place]))),
  /** All drafts of all owners, without their order. */
  all: (): Promise<SealedDraft[]> => inStore(DRAFTS, 'readonly', (drafts) => done(drafts.getAll())),
  write: (draft: SealedDraft): Promise<unknown> =>
    inStore(DRAFTS, 'readwrite', (drafts) => done(drafts.put(draft))),
  remove: (owner: string, place: string): Promise<unknown> =>
    inStore(DRAFTS, 'readwrite', (drafts) => done(drafts.delete([owner, place]))),
};

async function inStore<T>(
  name: string,
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => Promise<T>,
): Promise<T> {
  opened ??= open();
  const database = await opened;
  const transaction = database.transaction(name, mode);
  const ended = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error('the browser stores nothing'));
  });
  const result = await work(transaction.objectStore(name));
  await ended;
  return result;
}

function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(NAME, VERSION);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(KEYS);
    request.result.createObjectStore(DRAFTS, { keyPath: ['owner', 'place'] });
  };
  const database = done(request);
  // A later attempt may succeed.
  database.catch(() => {
    opened = undefined;
  });
  return database;
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the browser stores nothing'));
  });
}
