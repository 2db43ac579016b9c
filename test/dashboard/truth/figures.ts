import { CONTROL_OF, type Fate, type Sent } from './traffic.js';

/** Numbers of evaluations, as the log of the generator has them. */
export interface Figures {
  readonly evaluated: number;
  readonly denied: number;
  readonly byError: number;
  readonly steered: number;
  readonly observed: number;
}

export function figuresOf(
  log: readonly Sent[],
  agent?: string,
  fromMs = 0,
  toMs = Number.POSITIVE_INFINITY,
): Figures {
  const sent = log.filter(
    (one) => one.atMs >= fromMs && one.atMs < toMs && (agent === undefined || one.agent === agent),
  );
  const count = (...fates: Fate[]) => sent.filter(({ fate }) => fates.includes(fate)).length;
  return {
    evaluated: sent.length,
    denied: count('deny', 'error'),
    byError: count('error'),
    steered: count('steer'),
    observed: count('observe'),
  };
}

/** How often a control decided. */
export function decidedBy(log: readonly Sent[], control: string): number {
  return log.filter(({ fate }) => CONTROL_OF[fate] === control).length;
}
