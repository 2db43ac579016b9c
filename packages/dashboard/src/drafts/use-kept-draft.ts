import type { JsonValue } from '@bufbuild/protobuf';
import { useEffect, useRef, useState } from 'react';
import { type DraftKeeper, draftKeeper } from '../data/drafts/draft-keeper.js';
import { whenFlushed } from '../data/drafts/flush-drafts.js';
import { useSession } from '../session/session-context.js';

const DELAY_MS = 250;

/** Whether what is written is kept outside of the page. */
export type KeptState = 'nothing' | 'pending' | 'kept' | 'failed';

interface KeptDraftOptions {
  readonly place: string;
  readonly title: string;
  readonly value: JsonValue;
  /** Whether there is something to lose. */
  readonly isDirty: boolean;
}

/** Keeps what is written as a draft, as long as it is not saved. */
export function useKeptDraft({ place, title, value, isDirty }: KeptDraftOptions) {
  const keeper = useDraftKeeper();
  const { ended } = useSession();
  const [state, setState] = useState<KeptState>('nothing');
  const wasDirty = useRef(false);
  /** The last write or removal: they happen one after the other. */
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const then = (work: () => Promise<unknown>): Promise<unknown> => {
    last.current = last.current.then(work, work);
    return last.current;
  };
  /** Takes back a write that waits. */
  const cancel = useRef(() => {});
  const text = JSON.stringify(value);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `text` stands for the value, and `then` changes nothing
  useEffect(() => {
    // A session that has ended may have been signed out elsewhere, with its drafts.
    if (keeper === null || ended !== null) return;
    if (!isDirty) {
      if (wasDirty.current) void then(() => keeper.remove(place)).catch(() => undefined);
      wasDirty.current = false;
      setState('nothing');
      return;
    }
    wasDirty.current = true;
    setState((before) => (before === 'kept' ? before : 'pending'));
    const write = (): Promise<unknown> => {
      clearTimeout(timer);
      forget();
      return then(() => keeper.write({ place, title, value })).then(
        (isKept) => setState(isKept === true ? 'kept' : 'failed'),
        () => setState('failed'),
      );
    };
    const timer = setTimeout(() => void write(), DELAY_MS);
    const forget = whenFlushed(write);
    cancel.current = () => {
      clearTimeout(timer);
      forget();
    };
    return cancel.current;
  }, [keeper, ended, place, title, text, isDirty]);
  /** For when the writer gives the draft up, or it is saved and the page is left. Fulfilled when it is gone. */
  const discard = async (): Promise<void> => {
    if (keeper === null) return;
    wasDirty.current = false;
    // What was typed just before must not be kept after all.
    cancel.current();
    const removal = then(() => keeper.remove(place)).catch(() => undefined);
    const forget = whenFlushed(() => removal);
    await removal;
    forget();
  };
  return { state, discard };
}

/** The drafts of the caller; null before a sign-in. */
export function useDraftKeeper(): DraftKeeper | null {
  const { state } = useSession();
  return state.kind === 'ready' ? draftKeeper(state.owner) : null;
}
