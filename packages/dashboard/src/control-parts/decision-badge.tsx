import {
  IconAlertTriangle,
  IconArrowForwardUp,
  IconBan,
  IconCheck,
  IconEye,
  IconMinus,
  IconPencil,
  IconUserQuestion,
} from '@tabler/icons-react';
import type { VerdictSign } from './sign.js';

const SIGNS = {
  deny: { icon: IconBan, word: 'deny' },
  steer: { icon: IconArrowForwardUp, word: 'steer' },
  observe: { icon: IconEye, word: 'observe' },
  safe: { icon: IconCheck, word: 'safe' },
  error: { icon: IconAlertTriangle, word: 'error' },
  ask: { icon: IconUserQuestion, word: 'ask' },
  modify: { icon: IconPencil, word: 'modify' },
  none: { icon: IconMinus, word: 'no match' },
} as const;

interface DecisionBadgeProps {
  readonly sign: VerdictSign;
  readonly word?: string;
}

/** A decision: always with the same color, icon and word. */
export function DecisionBadge({ sign, word }: DecisionBadgeProps) {
  const { icon: Icon, word: usual } = SIGNS[sign];
  return (
    <span className={`badge ${sign}`}>
      <Icon size={14} aria-hidden="true" />
      {word ?? usual}
    </span>
  );
}
