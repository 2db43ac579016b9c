import type { ExpressionProblem } from '@gen/enforcement/v1/control_service_pb.js';
import type { Inspection } from './use-inspection.js';

interface ExpressionFactsProps {
  readonly id: string;
  readonly inspection: Inspection;
  /** Problems without a place in the text. */
  readonly messages: readonly string[];
  /** Writes a text in place of the part that has a problem. */
  readonly onReplace: (problem: ExpressionProblem, text: string) => void;
}

/** What is known of an expression: its problems with their suggestions, its type, and what it reads. */
export function ExpressionFacts({ id, inspection, messages, onReplace }: ExpressionFactsProps) {
  const { reply, problems, refused, isStale, failure } = inspection;
  const texts = [...refused.map(({ message }) => message), ...messages];
  return (
    <div id={id} className="expression-facts" aria-live="polite" aria-busy={isStale}>
      {(problems.length > 0 || texts.length > 0) && (
        <ul className="field-problems">
          {texts.map((message) => (
            <li key={message} className="error" dir="auto">
              {message}
            </li>
          ))}
          {problems.map((problem) => (
            <li
              key={`${problem.start} ${problem.code} ${problem.message}`}
              className={problem.error ? 'error' : 'warning'}
              dir="auto"
            >
              {placeText(problem)}: {problem.message}
              <Suggestion problem={problem} onReplace={onReplace} />
            </li>
          ))}
        </ul>
      )}
      {failure === null && refused.length === 0 && reply?.resultType !== undefined && (
        <p className="muted">
          The result is <code>{reply.resultType}</code>.
          {reply.reads.length > 0 && (
            <>
              {' '}
              It reads{' '}
              {reply.reads.map((path, index) => (
                <span key={path}>
                  {index > 0 && ', '}
                  <code dir="ltr">{path}</code>
                </span>
              ))}
              .
            </>
          )}{' '}
          {reply.schemasKnown
            ? 'All registered steps in scope have schemas: members that none of them has are errors.'
            : 'Not all steps in scope have registered schemas, so misspelt members may not be found.'}
        </p>
      )}
    </div>
  );
}

interface SuggestionProps {
  readonly problem: ExpressionProblem;
  readonly onReplace: ExpressionFactsProps['onReplace'];
}

function Suggestion({ problem, onReplace }: SuggestionProps) {
  const { suggestion } = problem;
  if (suggestion === undefined) return null;
  return (
    <>
      {' '}
      <button type="button" className="quiet" onClick={() => onReplace(problem, suggestion)}>
        Write <code dir="ltr">{suggestion}</code>
      </button>
    </>
  );
}

/** Characters are counted from 1 for people. */
function placeText({ start, end, error }: ExpressionProblem): string {
  const kind = error ? 'Error' : 'Warning';
  return end > start + 1
    ? `${kind} at characters ${start + 1} to ${end}`
    : `${kind} at character ${start + 1}`;
}
