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

/** A share as pages show it. */
export function share(part: number, whole: number): string {
  return `${((part / whole) * 100).toFixed(1)} %`;
}

/** How a number has changed as pages show it: the words for none, in per cent, or a multiple. */
export function change(now: number, before: number): string {
  if (now === before) return 'as many';
  if (now >= before * 10) return `${Math.round(now / before)} times`;
  const percent = Math.abs((now * 100) / before - 100);
  return `${now > before ? '+' : '\u2212'}${percent < 10 ? percent.toFixed(1) : percent.toFixed(0)} %`;
}
