import type { JsonValue } from '@bufbuild/protobuf';
import { useState } from 'react';
import { isJsonObject } from '../code/json-members.js';
import { useFoundDraft } from '../drafts/draft-gate.js';
import { timeOf } from '../drafts/draft-offer.js';
import { useDraftKeeper } from '../drafts/use-kept-draft.js';

/** Where the step of the playground is kept. */
export const PLACE = 'playground';

/** Offers the step of an earlier visit. It is no work of its own, so nothing waits for an answer. */
export function KeptStep({ onContinue }: { readonly onContinue: (step: string) => void }) {
  const keeper = useDraftKeeper();
  const found = useFoundDraft(PLACE);
  const [isDecided, setDecided] = useState(false);
  const step = found === null || found === undefined ? null : stepOf(found.value);
  if (found === null || found === undefined || step === null || isDecided) return null;
  return (
    <section className="notice" aria-label="Draft">
      <p>You have an unsaved step from {timeOf(found.savedAt)}.</p>
      <p className="links">
        <button
          type="button"
          onClick={() => {
            setDecided(true);
            onContinue(step);
          }}
        >
          Continue
        </button>
        <button
          type="button"
          onClick={() => {
            setDecided(true);
            void keeper?.remove(PLACE);
          }}
        >
          Discard
        </button>
      </p>
    </section>
  );
}

function stepOf(value: JsonValue): string | null {
  return isJsonObject(value) && typeof value.step === 'string' ? value.step : null;
}
