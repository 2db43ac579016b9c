import { useQuery } from '@connectrpc/connect-query';
import {
  type ControlExecutionEvent,
  type EvaluationCounts,
  ObservabilityService,
} from '@gen/enforcement/v1/observability_service_pb.js';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Link } from 'wouter';
import { eventsAddress } from '../activity/events-address.js';
import { useServer } from '../health/use-server.js';
import type { ShownProblem } from '../health/verdict.js';
import { UserText } from '../ui/user-text.js';
import '../health/health.css';

/** Latest errors that are looked at for their cause. */
const LOOKED_AT = 50;

interface AgentTroubleProps {
  readonly agentName: string;
  readonly range: string;
  readonly counts: EvaluationCounts | undefined;
}

/** That steps of the agent are denied because controls fail, and which controls they are. */
export function AgentTrouble({ agentName, range, counts }: AgentTroubleProps) {
  const isDenied = counts !== undefined && counts.deniedByError > 0n;
  const { data } = useQuery(
    ObservabilityService.method.queryEvents,
    { agentName, hasError: true, limit: LOOKED_AT, includeBuffered: true },
    { enabled: isDenied, refetchInterval: 15_000 },
  );
  const { problems } = useServer();
  if (!isDenied) return null;
  const { deniedByError, evaluated } = counts;
  return (
    <div className="server-problem critical" role="alert">
      <IconAlertTriangle size={18} aria-hidden="true" />
      <div>
        <strong>
          {deniedByError === evaluated && 'All '}
          {deniedByError.toLocaleString('en')} of {evaluated.toLocaleString('en')} evaluated steps were denied
          by error
        </strong>{' '}
        in this range: a control that denies could not be checked, so its steps are unsafe.{' '}
        <Link href={eventsAddress({ agent: agentName, range, errors: true })}>Show the errors</Link>
        <ul className="subjects">
          {causesOf(data?.events ?? []).map(({ controlId, controlName, errorMessage = '' }) => (
            <li key={controlId}>
              <Link href={`/controls/${controlId}`}>
                <UserText text={controlName ?? ''} />
              </Link>
              <span dir="auto">: {reasonOf(problems, controlId) ?? errorMessage}</span>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

const SHOWN_CAUSES = 5;

/** The latest error of each control. */
function causesOf(events: readonly ControlExecutionEvent[]): readonly ControlExecutionEvent[] {
  const latest = new Map<number | undefined, ControlExecutionEvent>();
  for (const event of events) if (!latest.has(event.controlId)) latest.set(event.controlId, event);
  return [...latest.values()].slice(0, SHOWN_CAUSES);
}

/** The problem of a control that fails, which says more than the error that callers are told. */
function reasonOf(problems: readonly ShownProblem[], controlId: number | undefined): string | undefined {
  return problems
    .flatMap(({ subjects }) => subjects)
    .find(({ type, id }) => type === 'control' && id === String(controlId))?.detail;
}
