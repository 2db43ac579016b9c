import { useState } from 'react';
import type { ProblemIndex } from './problem-index.js';
import type { PlacedProblem } from './problem-place.js';

interface ProblemSummaryProps {
  readonly problems: ProblemIndex;
  /** Whether nothing was written yet: then nothing is said about it. */
  readonly isEmpty: boolean;
  readonly failure: unknown;
  readonly onRetry: () => void;
  /** Goes to the place of a problem. */
  readonly onOpen: (problem: PlacedProblem) => void;
}

const FIRST_SHOWN = 3;
const EMPTY = 'Problems are listed here as you write. Begin with a name and the first check.';

/** All problems of the draft, each leading to its place. */
export function ProblemSummary(props: ProblemSummaryProps) {
  const { problems, isEmpty, failure, onRetry, onOpen } = props;
  const { all } = problems;
  const [isLong, setLong] = useState(false);
  const errors = all.filter(({ severity }) => severity === 'error');
  const warnings = all.filter(({ severity }) => severity === 'warning');
  const shown = [...errors, ...warnings].slice(0, isLong ? undefined : FIRST_SHOWN);
  return (
    <section className="problem-summary" aria-label="Problems">
      <p role="status" className={errors.length > 0 ? 'problem' : 'muted'}>
        {isEmpty ? EMPTY : summaryText(errors.length, warnings.length)}
      </p>
      {failure !== null && (
        <p className="problem" role="alert">
          The server could not check the control.{' '}
          <button type="button" onClick={onRetry}>
            Check again
          </button>
        </p>
      )}
      {shown.length > 0 && (
        <ul>
          {shown.map((problem) => (
            <li key={`${problem.field} ${problem.message}`} className={problem.severity}>
              <button type="button" className="link-button" onClick={() => onOpen(problem)}>
                {problem.field.replace(/^data\.?/, '') || 'control'}
              </button>{' '}
              <span dir="auto">{problem.message}</span>
              {problem.rule !== undefined && (
                <span className="muted">
                  {' '}
                  More in docs/lint.md: <code>{problem.rule}</code>
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      {all.length > FIRST_SHOWN && (
        <button type="button" className="link-button" aria-expanded={isLong} onClick={() => setLong(!isLong)}>
          {isLong ? 'Show fewer' : `Show all ${all.length}`}
        </button>
      )}
    </section>
  );
}

function summaryText(errors: number, warnings: number): string {
  const parts = [
    ...(errors === 0 ? [] : [`${errors} ${errors === 1 ? 'problem' : 'problems'}`]),
    ...(warnings === 0 ? [] : [`${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`]),
  ];
  return parts.length === 0 ? 'No problems found.' : parts.join(', ');
}
