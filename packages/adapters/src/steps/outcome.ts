import type { ServiceError } from '../../../../src/contract/errors/service-error.js';
import { retryAfterOf } from '../../../../src/decide/decisions/applied-limits.js';
import type { ApprovalNotice } from '../../../../src/decide/decisions/approval-gate.js';
import { NEEDS_MODIFY } from '../../../../src/decide/decisions/lifted-step.js';
import type { RevisedVerdict } from '../../../../src/decide/decisions/revised-verdict.js';
import type { ControlResult, Stage, Step } from '../../../../src/kernel/core/types.js';
import type { JsonObject } from '../../../exact-json/src/index.js';

/** What comes of a step that an adapter submitted. */
export type AdapterOutcome =
  /** It may proceed. `unchecked` if it was not evaluated, and the adapter fails open. */
  | { readonly kind: 'allow'; readonly verdict: RevisedVerdict | null; readonly unchecked: boolean }
  | {
      readonly kind: 'deny';
      readonly verdict: RevisedVerdict;
      readonly message: string;
      /** Seconds after which it may be repeated, if it is due to a limit; null if time alone does not help. */
      readonly retryAfterSeconds: number | null;
    }
  | {
      readonly kind: 'steer';
      readonly verdict: RevisedVerdict;
      readonly message: string;
      readonly guidance: string;
      readonly requiredActions: readonly string[];
    }
  /** A person must approve it first. */
  | {
      readonly kind: 'ask';
      readonly verdict: RevisedVerdict;
      readonly message: string;
      readonly approval: ApprovalNotice;
    }
  /** This step may run, or this output may be used, instead. */
  | { readonly kind: 'modify'; readonly verdict: RevisedVerdict; readonly step: Step }
  /** It was not evaluated, and counts as denied. */
  | { readonly kind: 'error'; readonly error: ServiceError; readonly message: string };

/** What comes of a step by its verdict. Messages can be shown to a model: they do not quote evaluators. */
export function outcomeOfVerdict(verdict: RevisedVerdict, step: Step, stage: Stage): AdapterOutcome {
  const { outcome, approval, modification } = verdict;
  if (outcome === 'allow') return { kind: 'allow', verdict, unchecked: false };
  if (outcome === 'modify' && modification !== undefined)
    return { kind: 'modify', verdict, step: modification.step };
  const when = stage === 'pre' ? 'before' : 'after';
  const name = `Step "${step.name}"`;
  if (outcome === 'steer') {
    const steering = verdict.matches.filter(({ action }) => action === 'steer');
    const guidance = steering.flatMap((one) => one.steering_context?.message ?? []).join('\n');
    const requiredActions = [
      ...new Set(steering.flatMap((one) => one.steering_context?.required_actions ?? [])),
    ];
    const advice = guidance === '' ? '.' : `: ${guidance}`;
    const actions =
      requiredActions.length === 0 ? '' : ` Required before it is repeated: ${requiredActions.join('; ')}.`;
    const message = `${name} was steered ${when} it ran${by(steering)}${advice}${actions}`;
    return { kind: 'steer', verdict, message, guidance, requiredActions };
  }
  const denying = [...verdict.matches, ...verdict.errors].filter(({ action }) => action === 'deny');
  if (outcome === 'ask' && approval !== undefined) {
    const message = `${name} did not run, because a person must approve it (approval ${approval.id})${by(denying)}. Repeat it once it is approved.`;
    return { kind: 'ask', verdict, message, approval };
  }
  const retryAfterUs = retryAfterOf(verdict);
  const retryAfterSeconds = retryAfterUs === null ? null : Math.ceil(retryAfterUs / 1_000_000);
  const message = `${name} was denied ${when} it ran${by(denying)}. ${adviceOf(verdict, retryAfterSeconds)}`;
  return { kind: 'deny', verdict, message, retryAfterSeconds };
}

function adviceOf({ halt, reason }: RevisedVerdict, retryAfterSeconds: number | null): string {
  if (halt !== undefined) return `Such steps are halted: ${halt.reason}`;
  if (reason?.endsWith(NEEDS_MODIFY) === true) return 'It may only run changed, which is not possible here.';
  if (retryAfterSeconds === null) return 'A policy forbids it: do not repeat it unchanged.';
  return `A limit is reached: repeat it no earlier than in ${retryAfterSeconds} s.`;
}

/** The message about a step that was not evaluated. */
export function notEvaluated(step: Step, stage: Stage): string {
  const when = stage === 'pre' ? 'before' : 'after';
  return `Step "${step.name}" could not be checked ${when} it ran, so it counts as denied. Try again later.`;
}

/** What a peer is told about a decision besides what it has a form for; `verdict` is null for a step that was not evaluated. */
export function decisionFacts(outcome: string, verdict: RevisedVerdict | null): JsonObject {
  return { outcome, ...(verdict === null ? {} : trailOf(verdict)) };
}

/** The facts of a step that may pass later, and what an agent needs for that. */
export function wayOut(outcome: Extract<AdapterOutcome, { kind: 'steer' | 'ask' }>): {
  readonly facts: JsonObject;
  readonly members: JsonObject;
} {
  const facts = decisionFacts(outcome.kind, outcome.verdict);
  if (outcome.kind === 'steer') {
    const { guidance, requiredActions } = outcome;
    return { facts, members: { guidance, required_actions: [...requiredActions] } };
  }
  const { id, expiresAtMs, stepSha256 } = outcome.approval;
  return {
    facts: { ...facts, approval_id: id },
    members: { expires_at: new Date(expiresAtMs).toISOString(), step_sha256: stepSha256 },
  };
}

/** The decision behind a verdict, for logs of the peer. */
export function trailOf(verdict: RevisedVerdict): JsonObject {
  return { decision_id: String(verdict.decision_id), controls: controlNames(verdict) };
}

/** Names of the controls that a verdict is due to. */
export function controlNames(verdict: RevisedVerdict): string[] {
  return [...verdict.matches, ...verdict.errors].map((one) => one.control_name);
}

function by(results: readonly ControlResult[]): string {
  return results.length === 0 ? '' : ` by ${results.map((one) => `"${one.control_name}"`).join(', ')}`;
}
