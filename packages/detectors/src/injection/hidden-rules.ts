import type { UnseenRun } from './fold.js';
import { type PhraseRule, phraseRules } from './phrase-rule.js';

/** Parts of HTML and CSS that people do not see, which mail and pages have for other purposes, too. */
export const hiddenRules: readonly PhraseRule[] = phraseRules('hidden_text', [
  [
    'invisible_html',
    0.25,
    'display:none|display: none|visibility:hidden|visibility: hidden|font-size:0|font-size: 0|opacity:0|opacity: 0|color:white|color: white|color:#fff|color: #fff|text-indent:-999|left:-999|font-size:1px|font-size: 1px',
  ],
  [
    'invisible_address',
    0.4,
    'display:none|display: none|visibility:hidden|visibility: hidden|font-size:0|font-size: 0|opacity:0|opacity: 0|color:white|color: white|color:#fff|color: #fff|font-size:1px > ai|llm|assistant|language model|instructions|the agent|chatgpt|claude',
    60,
  ],
  [
    'white_on_white',
    0.4,
    'color:white|color: white|color:#fff|color: #fff|color:#ffffff|color: #ffffff > background:white|background: white|background:#fff|background: #fff|background-color:white|background-color: white|background-color:#fff|background-color: #fff',
    20,
  ],
  ['comment', 0.3, '<!--|/*|[//]: > assistant|agent|agents|instructions|instruction|system prompt', 40],
  [
    'comment',
    0.5,
    '<!-- > ai assistant|ai assistants|llm|llms|ai agent|ai agents|chatgpt|language model|language models|claude|to the ai|to ai|for ai',
    40,
  ],
]);

/** Characters without a glyph in a row that no script and no emoji needs. */
const LEAST_ZERO_WIDTH = 8;
const LEAST_TAGS = 4;

/** Scores of runs of characters that are not seen; undefined for those of ordinary texts. */
export function scoreOfUnseen({ kind, start, end }: UnseenRun): number | undefined {
  const length = end - start;
  if (kind === 'tag' || kind === 'selector') return length >= 2 * LEAST_TAGS ? 0.9 : undefined;
  if (kind === 'override') return 0.55;
  return length >= LEAST_ZERO_WIDTH ? 0.7 : undefined;
}
