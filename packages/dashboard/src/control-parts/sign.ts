import { Decision } from '@gen/enforcement/v1/control_pb.js';

/** What became of a step, or what a control decides, as pages show it: with a color, an icon and a word of its own. */
export type Sign = 'deny' | 'steer' | 'observe' | 'safe' | 'error' | 'none';
/** The same of a verdict, which can also wait for a person, or change the step. */
export type VerdictSign = Sign | 'ask' | 'modify';

export function signOfDecision(decision: Decision | undefined): Sign {
  if (decision === Decision.DENY) return 'deny';
  if (decision === Decision.STEER) return 'steer';
  return decision === Decision.OBSERVE ? 'observe' : 'none';
}
