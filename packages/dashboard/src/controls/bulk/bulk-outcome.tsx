import type { ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { errorText } from '../../ui/error-text.js';
import { numberOf } from '../../ui/numbers.js';
import { UserText } from '../../ui/user-text.js';
import type { BulkResult } from './run-bulk.js';

interface BulkOutcomeProps {
  readonly results: readonly BulkResult<ControlSummary>[];
  /** For example `switched off`. */
  readonly done: string;
  readonly onRetry: (items: readonly ControlSummary[]) => void;
  readonly onClose: () => void;
}

/** What became of each control of a bulk action, with the reasons of failures. */
export function BulkOutcome({ results, done, onRetry, onClose }: BulkOutcomeProps) {
  const failed = results.filter((result) => result.kind === 'failed');
  const notStarted = results.filter((result) => result.kind === 'not started');
  const remaining = results.filter((result) => result.kind !== 'done').map(({ item }) => item);
  const succeeded = results.length - remaining.length;
  return (
    <>
      <p role="status">
        {numberOf(succeeded, 'control')} of {results.length} {done}.
      </p>
      {failed.length > 0 && (
        <div role="alert">
          <p className="problem">{numberOf(failed.length, 'control')} failed:</p>
          <ul>
            {failed.map(({ item, error }) => {
              const { title, detail } = errorText(error);
              return (
                <li key={item.id}>
                  <UserText text={item.name} />: {title}. <span className="muted">{detail}</span>
                </li>
              );
            })}
          </ul>
        </div>
      )}
      {notStarted.length > 0 && (
        <p>{numberOf(notStarted.length, 'control')} not touched, because the action was stopped.</p>
      )}
      <div className="dialog-actions">
        {remaining.length > 0 && (
          <button type="button" onClick={() => onRetry(remaining)}>
            {notStarted.length === 0 ? 'Retry failed' : 'Continue with the rest'}
          </button>
        )}
        <button type="button" className="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </>
  );
}
