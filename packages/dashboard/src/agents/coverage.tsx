import type { AgentControl } from '@gen/enforcement/v1/agent_service_pb.js';
import { numberOf } from '../ui/numbers.js';
import { UserText } from '../ui/user-text.js';
import { type RegisteredStep, uncoveredSteps } from './step-coverage.js';

const SHOWN = 8;

interface CoverageProps {
  readonly steps: readonly RegisteredStep[];
  /** Undefined until they are known. */
  readonly controls: readonly AgentControl[] | undefined;
}

/** Which registered steps of an agent no control checks. */
export function Coverage({ steps, controls }: CoverageProps) {
  if (controls === undefined) return null;
  const on = controls.filter(({ control }) => control?.enabled !== false);
  const missing = uncoveredSteps(steps, controls);
  return (
    <section className="card" aria-label="Coverage">
      <h2>Coverage</h2>
      {on.length === 0 ? (
        <p className="uncovered">No control is in effect: every step is allowed.</p>
      ) : (
        <p>
          {numberOf(on.length, 'control')} in effect
          {steps.length > 0 &&
            `, for ${steps.length - missing.length} of ${numberOf(steps.length, 'registered step')}`}
          .
        </p>
      )}
      {on.length > 0 && missing.length > 0 && (
        <>
          <p className="uncovered">No control checks:</p>
          <ul>
            {missing.slice(0, SHOWN).map(({ type, name }) => (
              <li key={`${type}\0${name}`}>
                <UserText text={name} /> <span className="muted">{type}</span>
              </li>
            ))}
            {missing.length > SHOWN && <li className="muted">and {missing.length - SHOWN} more</li>}
          </ul>
        </>
      )}
    </section>
  );
}
