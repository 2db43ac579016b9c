import type { RevisedVerdict } from '../../decide/decisions/revised-verdict.js';
import type { VerdictObserver } from '../../decide/decisions/verdict-observer.js';
import type { ControlResult } from '../../kernel/core/types.js';
import type { NotificationKind } from '../../storage/database/notifications.js';
import { createFailureShares } from './failure-shares.js';
import type { Subscriptions } from './subscriptions.js';

/** Most controls of which something waits to be written: a bound of memory. */
const MAX_SIGHTINGS = 10_000;

/** Something that a control did since the last `take`. */
export interface Sighting {
  readonly kind: NotificationKind;
  readonly namespace: string;
  readonly controlId: number;
  readonly controlName: string;
  /** Of the first evaluation since. */
  readonly agentName: string;
  /** With `control.error_rate`: checks, and failed ones among them. */
  readonly checks?: number;
  readonly failed?: number;
}

/** Looks at verdicts. */
export interface EvaluationWatch {
  readonly observer: VerdictObserver;
  /** What was seen since the last call. */
  take(): Sighting[];
}

export interface EvaluationWatchOptions {
  readonly subscriptions: Pick<Subscriptions, 'ofEvaluations' | 'wants'>;
  /** From which share of failed checks on a control is told of. */
  readonly errorShare: number;
  /** Longest time over which it is measured, in milliseconds. */
  readonly errorWindowMs: number;
  /** Monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
}

/**
 * It is called for every verdict. Without a subscription it reads one flag; with one, it looks at matches and errors, which most
 * verdicts do not have. Only while a control fails that a destination is told of, verdicts have the controls that did not match.
 */
export function createEvaluationWatch(options: EvaluationWatchOptions): EvaluationWatch {
  const { subscriptions, errorShare, errorWindowMs, monotonic } = options;
  const shares = createFailureShares({ share: errorShare, windowMs: errorWindowMs });
  let seen = new Map<string, Sighting>();

  function add(sighting: Sighting): void {
    const key = `${sighting.kind} ${sighting.controlId}`;
    if (seen.has(key) || seen.size >= MAX_SIGHTINGS) return;
    seen.set(key, sighting);
  }

  function look(agentName: string, namespace: string, verdict: RevisedVerdict): void {
    const sighted = (kind: NotificationKind, { control_id, control_name }: ControlResult) =>
      add({ kind, namespace, controlId: control_id, controlName: control_name, agentName });
    const { matches, errors, limits } = verdict;
    if (matches.length > 0 && subscriptions.wants(namespace, 'control.first_deny')) {
      for (const match of matches) if (match.action === 'deny') sighted('control.first_deny', match);
    }
    if (limits !== undefined && matches.length > 0 && subscriptions.wants(namespace, 'limit.reached')) {
      for (const match of matches) {
        if (limits.some(({ controlId }) => controlId === match.control_id)) sighted('limit.reached', match);
      }
    }
    if (errors.length === 0 && !shares.isMeasuring) return;
    if (!subscriptions.wants(namespace, 'control.error_rate')) return;
    const about = { namespace, agentName };
    for (const failed of errors) shares.failed(failed, about, monotonic());
    if (!shares.isMeasuring) return;
    for (const { control_id } of matches) shares.passed(control_id);
    for (const { control_id } of verdict.non_matches) shares.passed(control_id);
  }

  return {
    observer: {
      get nonMatches() {
        return shares.isMeasuring && subscriptions.ofEvaluations;
      },
      told({ request, verdict, caller }) {
        if (!subscriptions.ofEvaluations) return;
        if (verdict.matches.length + verdict.errors.length === 0 && !shares.isMeasuring) return;
        look(request.agentName, caller.namespace.name, verdict);
      },
    },
    take() {
      for (const share of shares.take(monotonic())) add({ kind: 'control.error_rate', ...share });
      if (seen.size === 0) return [];
      const taken = [...seen.values()];
      seen = new Map();
      return taken;
    },
  };
}
