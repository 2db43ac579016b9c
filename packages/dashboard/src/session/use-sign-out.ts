import { useCallback, useSyncExternalStore } from 'react';
import type { Draft } from '../data/drafts/draft.js';
import { draftsOfCaller } from '../data/drafts/draft-keeper.js';
import { flushDrafts } from '../data/drafts/flush-drafts.js';
import { announceSessionChange } from '../data/session-news.js';
import { signOut } from '../data/session-requests.js';
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
  const { caller, confirm } = useConfirmedSignOut();
  const { problem } = useSyncExternalStore(watch, () => current);
  const leave = useCallback(async () => {
    if (caller === undefined) return;
    await flushDrafts();
    // A browser that stores nothing has nothing to delete.
    const drafts = await draftsOfCaller(caller)
      .list()
      .catch(() => []);
    if (drafts.length === 0) await confirm();
    else publish({ drafts, problem: null });
  }, [caller, confirm]);
  return { leave: caller === undefined ? undefined : leave, problem };
}

/** The question whether drafts may go with the session, and its answers. */
export function useSignOutQuestion() {
  const leaving = useSyncExternalStore(watch, () => current);
  const { confirm } = useConfirmedSignOut();
  return { ...leaving, confirm, cancel: () => publish(STAYING) };
}

function useConfirmedSignOut() {
  const { state, leave } = useSession();
  const caller = state.kind === 'ready' && state.keysRequired ? state.caller : undefined;
  const confirm = useCallback(async () => {
    try {
      await signOut();
      if (caller !== undefined)
        await draftsOfCaller(caller)
          .clear()
          .catch(() => undefined);
      announceSessionChange();
      publish(STAYING);
      leave();
    } catch (failure) {
      publish({ ...current, problem: (failure as Error).message });
    }
  }, [caller, leave]);
  return { caller, confirm };
}
