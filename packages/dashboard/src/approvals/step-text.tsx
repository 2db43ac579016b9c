import { useState } from 'react';
import { indentedJson, JSON_TOKENS } from '../code/json-tokens.js';
import { visibleText } from '../ui/visible-text.js';

/** Characters that are shown at first; a step has at most 64 KiB. */
const SHOWN_AT_FIRST = 4_000;
/** Letters that are written from right to left: strings with them are kept from moving what is beside them. */
const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]|[\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

interface StepTextProps {
  /** JSON text with secrets masked; no JSON if it was shortened. */
  readonly json: string;
  readonly isShortened: boolean;
}

/** The step that waits, as text in which nothing is hidden and nothing is interpreted. */
export function StepText({ json, isShortened }: StepTextProps) {
  const [isWhole, setWhole] = useState(false);
  const text = visibleText(indentedJson(json));
  const hasMore = text.length > SHOWN_AT_FIRST && !isWhole;
  const shown = hasMore ? text.slice(0, SHOWN_AT_FIRST) : text;
  return (
    <>
      {isShortened && (
        <p className="notice">
          The step is longer than what the service shows of it. What is missing here is approved as well.
        </p>
      )}
      <section
        className="step-text"
        aria-label="The step, with secrets masked"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
      >
        <pre className="code" dir="ltr">
          {pieces(shown).map((piece, at) =>
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have no other identity and never move
            RIGHT_TO_LEFT.test(piece) ? <bdi key={at}>{piece}</bdi> : piece,
          )}
        </pre>
      </section>
      {hasMore && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString()} characters
        </button>
      )}
    </>
  );
}

/** The text in pieces, so that each string with letters from right to left is one of its own. */
function pieces(text: string): readonly string[] {
  const found: string[] = [];
  let end = 0;
  for (const { 0: token, index } of text.matchAll(JSON_TOKENS)) {
    if (!RIGHT_TO_LEFT.test(token)) continue;
    found.push(text.slice(end, index), token);
    end = index + token.length;
  }
  return [...found, text.slice(end)];
}
