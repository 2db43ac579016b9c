import { useCallback, useSyncExternalStore } from 'react';
import { announceSessionChange } from '../data/session-news.js';
import { signOut } from '../data/session-requests.js';
import type { Draft } from '../drafts/draft.js';
import { draftKeeper } from '../drafts/draft-keeper.js';
import { flushDrafts } from '../drafts/flush-drafts.js';
import { useSession } from './session-context.js';

/** A sign-out that was asked for, wherever: in the header or in the palette. */
interface Leaving {
  /** The drafts that it would delete. Not empty while it waits for an answer. */
  readonly drafts: readonly Draft[];
  readonly problem: string | null;
}

const STAYING: Leaving = { drafts: [], problem: null };
let current = STAYING;
const watchers = new Set<() => void>();

function publish(next: Leaving): void {
  current = next;
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Ends the session of this browser, in all tabs. Undefined if there is none to end. */
export function useSignOut(): { readonly leave: (() => void) | undefined; readonly problem: string | null } {
  const { owner, confirm } = useConfirmedSignOut();
  const { problem } = useSyncExternalStore(watch, () => current);
  const leave = useCallback(async () => {
    if (owner === undefined) return;
    await flushDrafts();
    // A browser that stores nothing has nothing to delete.
    const drafts = await draftKeeper(owner)
      .list()
      .catch(() => []);
    if (drafts.length === 0) await confirm();
    else publish({ drafts, problem: null });
  }, [owner, confirm]);
  return { leave: owner === undefined ? undefined : leave, problem };
}

/** The question whether drafts may go with the session, and its answers. */
export function useSignOutQuestion() {
  const leaving = useSyncExternalStore(watch, () => current);
  const { confirm } = useConfirmedSignOut();
  return { ...leaving, confirm, cancel: () => publish(STAYING) };
}

function useConfirmedSignOut() {
  const { state, leave } = useSession();
  const owner = state.kind === 'ready' && state.keysRequired ? state.owner : undefined;
  const confirm = useCallback(async () => {
    try {
      await signOut();
      if (owner !== undefined)
        await draftKeeper(owner)
          .clear()
          .catch(() => undefined);
      announceSessionChange();
      publish(STAYING);
      leave();
    } catch (failure) {
      publish({ ...current, problem: (failure as Error).message });
    }
  }, [owner, leave]);
  return { owner, confirm };
}
