import type { JsonValue } from '@bufbuild/protobuf';
import { Fragment, type ReactNode, useEffect, useState } from 'react';
import { Loading } from '../ui/states.js';
import type { Draft } from './draft.js';
import { DraftOffer } from './draft-offer.js';
import { useDraftKeeper } from './use-kept-draft.js';

interface DraftGateProps<T> {
  readonly place: string;
  /** The draft in the form of the page; null if the page has no use for it. */
  readonly read: (value: JsonValue) => T | null;
  /** What is to be known before one continues, for example that the control was changed. */
  readonly note?: (draft: T) => ReactNode;
  /** The page, with the draft that one continues, or null. */
  readonly children: (draft: T | null) => ReactNode;
}

/** Offers a draft of this page from before, above the page as it is without it. */
export function DraftGate<T>({ place, read, note, children }: DraftGateProps<T>) {
  const keeper = useDraftKeeper();
  const found = useFoundDraft(place);
  const [taken, setTaken] = useState<T | null>(null);
  const [isDecided, setDecided] = useState(false);
  if (found === undefined) return <Loading what="the draft" />;
  const draft = found === null ? null : read(found.value);
  return (
    <>
      {found !== null && draft !== null && !isDecided && (
        <DraftOffer
          savedAt={found.savedAt}
          title={found.title}
          onContinue={() => {
            setTaken(draft);
            setDecided(true);
          }}
          onDiscard={() => {
            void keeper?.remove(place);
            setDecided(true);
          }}
        >
          {note?.(draft)}
        </DraftOffer>
      )}
      <Fragment key={taken === null ? 'stored' : 'draft'}>{children(taken)}</Fragment>
    </>
  );
}

/** The draft of a place as it was when the page was opened; null without one, undefined until it is known. */
export function useFoundDraft(place: string): Draft | null | undefined {
  const keeper = useDraftKeeper();
  const [found, setFound] = useState<{ readonly place: string; readonly draft: Draft | null }>();
  useEffect(() => {
    let isGone = false;
    const take = (draft: Draft | null) => {
      if (!isGone) setFound({ place, draft });
    };
    if (keeper === null) take(null);
    // A browser that stores nothing has no draft either.
    else keeper.read(place).then(take, () => take(null));
    return () => {
      isGone = true;
    };
  }, [keeper, place]);
  return found?.place === place ? found.draft : undefined;
}
