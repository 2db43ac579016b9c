import { Decision } from '@gen/enforcement/v1/control_pb.js';
import {
  IconAlertTriangle,
  IconArrowForwardUp,
  IconBan,
  IconCheck,
  IconEye,
  IconMinus,
} from '@tabler/icons-react';
import type { Sign } from './sign.js';

export type { Sign } from './sign.js';

const SIGNS = {
  deny: { icon: IconBan, word: 'deny' },
  steer: { icon: IconArrowForwardUp, word: 'steer' },
  observe: { icon: IconEye, word: 'observe' },
  safe: { icon: IconCheck, word: 'safe' },
  error: { icon: IconAlertTriangle, word: 'error' },
  none: { icon: IconMinus, word: 'no match' },
} as const;

export function signOfDecision(decision: Decision | undefined): Sign {
  if (decision === Decision.DENY) return 'deny';
  if (decision === Decision.STEER) return 'steer';
  return decision === Decision.OBSERVE ? 'observe' : 'none';
}

interface DecisionBadgeProps {
  readonly sign: Sign;
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
