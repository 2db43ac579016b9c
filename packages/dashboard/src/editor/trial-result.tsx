import {
  Applicability,
  type ControlExplanation,
  type ExplainResponse,
} from '@gen/enforcement/v1/evaluation_service_pb.js';
import { ConditionWalk } from '../control-parts/condition-walk.js';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { type Sign, signOfDecision } from '../control-parts/sign.js';
import { stepOfText, TriedStep } from '../control-parts/tried-step.js';
import { ErrorState } from '../ui/states.js';
import type { TrialOutcome } from './use-trial.js';

interface TrialResultProps {
  readonly outcome: TrialOutcome;
  readonly onRetry: () => void;
}

/** What the draft decided about the tried step. */
export function TrialResult({ outcome, onRetry }: TrialResultProps) {
  return (
    <div className="trial-result" aria-live="polite">
      {outcome.kind === 'none' && <p className="muted">The verdict and each node appear here.</p>}
      {outcome.kind === 'incomplete' && (
        <p className="muted">The control can be tried as soon as it has no problems.</p>
      )}
      {outcome.kind === 'failed' && <ErrorState error={outcome.error} onRetry={onRetry} />}
      {outcome.kind === 'explained' && (
        <TriedStep value={stepOfText(outcome.step)}>
          <Verdict explained={outcome.explained} />
        </TriedStep>
      )}
    </div>
  );
}

const WORDS: Readonly<Partial<Record<Sign, string>>> = {
  deny: 'denied by this control',
  steer: 'steered by this control',
  observe: 'observed by this control',
};

function Verdict({ explained: { controls } }: { readonly explained: ExplainResponse }) {
  const [control] = controls;
  if (control === undefined) return null;
  const { sign, word } = verdictOf(control);
  return (
    <>
      <p className="trial-verdict">
        <DecisionBadge sign={sign} word={word} />
      </p>
      <p dir="auto">
        {control.reason === Applicability.DISABLED
          ? 'The control is off, so it checks nothing. Switch it on to try it.'
          : control.message}
      </p>
      {control.condition !== undefined && <ConditionWalk root={control.condition} />}
    </>
  );
}

function verdictOf({ applies, condition, decision }: ControlExplanation): { sign: Sign; word: string } {
  if (!applies) return { sign: 'none', word: 'does not apply' };
  if (condition === undefined) return { sign: 'none', word: 'too large to be explained' };
  if (condition.matched === undefined || condition.error !== undefined) {
    return { sign: 'error', word: 'cannot be evaluated' };
  }
  if (!condition.matched) return { sign: 'safe', word: 'no match: allowed' };
  const sign = signOfDecision(decision);
  return { sign, word: WORDS[sign] ?? 'match' };
}
