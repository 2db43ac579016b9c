import { Applicability } from '../../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { Explanation } from '../playground/explanation.js';
import { ErrorState } from '../shared/states.js';
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
        <>
          {outcome.explained.controls[0]?.reason === Applicability.DISABLED && (
            <p className="notice">The control is off, so it checks nothing. Switch it on to try it.</p>
          )}
          <Explanation explained={outcome.explained} />
        </>
      )}
    </div>
  );
}
