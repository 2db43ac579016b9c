import { UserText } from '../ui/user-text.js';
import type { SentencePart } from './entry-sentence.js';

const MAX_NAME = 60;

interface SentenceProps {
  readonly parts: readonly SentencePart[];
}

/** A sentence in which each name keeps its own writing direction. */
export function Sentence({ parts }: SentenceProps) {
  return parts.map((part, at) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence have no other order
    typeof part === 'string' ? part : <UserText key={at} text={part.name} max={MAX_NAME} />,
  );
}
