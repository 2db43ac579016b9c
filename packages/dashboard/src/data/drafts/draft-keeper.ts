import { isOwnerOf } from '../../ui/browser/owner.js';
import type { Draft } from './draft.js';
import { draftDatabase, type SealedDraft } from './draft-database.js';
import { openDraft, sealDraft } from './draft-seal.js';

/** Keeps the drafts of one owner. */
export interface DraftKeeper {
  read(place: string): Promise<Draft | null>;
  /** Latest first. */
  list(): Promise<readonly Draft[]>;
  /** Returns whether it was kept: too large ones are not. */
  write(draft: Omit<Draft, 'savedAt'>): Promise<boolean>;
  remove(place: string): Promise<void>;
  /** Forgets all drafts of the owner, and the key. */
  clear(): Promise<void>;
}

export const MAX_DRAFT_AGE_MS = 7 * 24 * 3_600_000;
const MAX_DRAFTS = 20;
const MAX_DRAFT_CHARACTERS = 1_000_000;

const keepers = new Map<string, DraftKeeper>();

/** The drafts of an owner. Another one never reads them. */
export function draftKeeper(owner: string): DraftKeeper {
  let keeper = keepers.get(owner);
  if (keeper === undefined) {
    // Plain http elsewhere than at localhost has no keys: drafts live as long as the tab.
    keeper = hasSeals() ? sealedKeeper(owner) : memoryKeeper();
    keepers.set(owner, keeper);
  }
  return keeper;
}

/** All drafts of a caller, in all of its namespaces: they go together. */
export function draftsOfCaller(caller: string): Pick<DraftKeeper, 'list' | 'clear'> {
  if (hasSeals()) {
    const isOwn = (owner: string) => isOwnerOf(caller, owner);
    return {
      list: () => openAll(isOwn),
      async clear() {
        const drafts = await sealedDrafts(isOwn);
        await Promise.all(drafts.map(({ owner, place }) => draftDatabase.remove(owner, place)));
        const owners = new Set(drafts.map(({ owner }) => owner));
        await Promise.all([...owners].map((owner) => draftDatabase.forgetKey(owner)));
      },
    };
  }
  const own = () => [...keepers].filter(([owner]) => isOwnerOf(caller, owner)).map(([, keeper]) => keeper);
  return {
    list: async () => (await Promise.all(own().map((keeper) => keeper.list()))).flat(),
    clear: async () => void (await Promise.all(own().map((keeper) => keeper.clear()))),
  };
}

function hasSeals(): boolean {
  return isSecureContext && 'indexedDB' in window;
}

/** The sealed drafts of some owners, latest first; old ones are deleted. */
async function sealedDrafts(isOwn: (owner: string) => boolean): Promise<readonly SealedDraft[]> {
  const all = await draftDatabase.all();
  const oldest = Date.now() - MAX_DRAFT_AGE_MS;
  const expired = all.filter(({ savedAt }) => savedAt < oldest);
  await Promise.all(expired.map((draft) => draftDatabase.remove(draft.owner, draft.place)));
  return all
    .filter((draft) => isOwn(draft.owner) && draft.savedAt >= oldest)
    .toSorted((one, other) => other.savedAt - one.savedAt);
}

async function openAll(isOwn: (owner: string) => boolean): Promise<readonly Draft[]> {
  const drafts = await Promise.all((await sealedDrafts(isOwn)).map(openDraft));
  return drafts.filter((draft) => draft !== null);
}

function sealedKeeper(owner: string): DraftKeeper {
  const isOwn = (other: string) => other === owner;
  const own = () => sealedDrafts(isOwn);
  return {
    async read(place) {
      const sealed = (await own()).find((draft) => draft.place === place);
      return sealed === undefined ? null : openDraft(sealed);
    },
    list: () => openAll(isOwn),
    async write(draft) {
      if (isTooLarge(draft)) return false;
      await draftDatabase.write(await sealDraft(owner, { ...draft, savedAt: Date.now() }));
      const beyond = (await own()).slice(MAX_DRAFTS);
      await Promise.all(beyond.map(({ place }) => draftDatabase.remove(owner, place)));
      return true;
    },
    async remove(place) {
      await draftDatabase.remove(owner, place);
    },
    async clear() {
      const drafts = await own();
      await Promise.all(drafts.map(({ place }) => draftDatabase.remove(owner, place)));
      await draftDatabase.forgetKey(owner);
    },
  };
}

function memoryKeeper(): DraftKeeper {
  const drafts = new Map<string, Draft>();
  return {
    read: async (place) => drafts.get(place) ?? null,
    list: async () => [...drafts.values()].reverse(),
    async write(draft) {
      if (isTooLarge(draft)) return false;
      drafts.delete(draft.place);
      drafts.set(draft.place, { ...draft, savedAt: Date.now() });
      for (const place of [...drafts.keys()].slice(0, -MAX_DRAFTS)) drafts.delete(place);
      return true;
    },
    remove: async (place) => void drafts.delete(place),
    clear: async () => drafts.clear(),
  };
}

function isTooLarge({ title, value }: Omit<Draft, 'savedAt'>): boolean {
  return title.length + JSON.stringify(value).length > MAX_DRAFT_CHARACTERS;
}
