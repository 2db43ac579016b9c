import { IconAlertTriangle, IconCheck, IconMinus, IconX } from '@tabler/icons-react';
import type { NodeResult } from './node-results.js';

const STATES = {
  true: { icon: IconCheck, word: 'true' },
  false: { icon: IconX, word: 'false' },
  skipped: { icon: IconMinus, word: 'skipped' },
  error: { icon: IconAlertTriangle, word: 'error' },
} as const;

/** What a tried step did at a node: a sign, a word, and why on hover. */
export function NodeResultBadge({ result: { state, why } }: { readonly result: NodeResult }) {
  const { icon: Icon, word } = STATES[state];
  return (
    <span className={`node-result ${state}`} title={why === '' ? word : `${word}: ${why}`}>
      <Icon size={14} aria-hidden="true" />
      {word}
      {state === 'skipped' && why !== '' && <span className="visually-hidden">, {why}</span>}
    </span>
  );
}
