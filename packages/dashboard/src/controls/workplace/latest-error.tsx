import { useQuery } from '@connectrpc/connect-query';
import { ObservabilityService, TotalKind } from '@gen/enforcement/v1/observability_service_pb.js';
import { Link } from 'wouter';
import { TimeText } from '../../ui/time-text.js';
import { UserText } from '../../ui/user-text.js';

const MAX_TEXT = 300;

interface LatestErrorProps {
  readonly controlId: number;
  /** Their number in words. */
  readonly errors: string;
  /** Whether a step is denied when the control fails. */
  readonly deniesByError: boolean;
  /** Address of the events with the errors. */
  readonly href: string;
}

/** That the control fails, what its latest error says, and where to put it right. */
export function LatestError({ controlId, errors, deniesByError, href }: LatestErrorProps) {
  const query = useQuery(ObservabilityService.method.queryEvents, {
    controlIds: [controlId],
    hasError: true,
    limit: 1,
    total: TotalKind.NONE,
  });
  const event = query.data?.events[0];
  return (
    <div className="failing">
      <p>
        <Link href={href}>
          <strong>{errors}</strong>
        </Link>
        {deniesByError
          ? ': the control fails closed, so these steps are denied unless another control decides.'
          : ': in these checks the control decided nothing.'}
      </p>
      {event?.errorMessage !== undefined && (
        <p>
          The latest, <TimeText time={event.timestamp} />:{' '}
          <UserText text={event.errorMessage} max={MAX_TEXT} />
        </p>
      )}
      {event?.evaluatorName !== undefined && (
        <p>
          <Link href={`/evaluators/${encodeURIComponent(event.evaluatorName)}`}>
            What the evaluator <bdi>{event.evaluatorName}</bdi> needs
          </Link>
        </p>
      )}
    </div>
  );
}
