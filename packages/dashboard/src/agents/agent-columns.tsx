import type { AgentSummary } from '@gen/enforcement/v1/agent_service_pb.js';
import type { EvaluationCounts } from '@gen/enforcement/v1/observability_service_pb.js';
import { Link } from 'wouter';
import { eventsAddress } from '../activity/events-address.js';
import { AGENT_COLUMN, agentAddress } from '../references/columns.js';
import { shareText } from '../ui/numbers.js';
import type { Columns } from '../ui/table/columns.js';
import { LastTime } from './agent-facts.js';
import '../outcomes/outcomes.css';
import { Labels } from './labels.js';

const MAX_LABELS = 2;

/** What is known of the evaluations of an agent: undefined if it is not among those that were asked for. */
export type CountsOf = (agentName: string) => EvaluationCounts | 'none' | undefined;

/** The columns of the list of agents. */
export function agentColumns(countsOf: CountsOf): Columns<AgentSummary> {
  return [
    { ...AGENT_COLUMN, sort: { by: 'name', first: 'ascending' } },
    { head: 'Labels', cell: ({ labels }) => <Labels labels={labels} max={MAX_LABELS} /> },
    {
      head: 'Last evaluated',
      sort: { by: 'last_evaluated', first: 'descending' },
      cell: ({ lastEvaluatedAt }) => <LastTime time={lastEvaluatedAt} />,
    },
    {
      head: 'Last denied',
      sort: { by: 'last_denied', first: 'descending' },
      cell: ({ lastDeniedAt }) => <LastTime time={lastDeniedAt} />,
    },
    {
      head: 'Denied, 24 h',
      className: 'number',
      cell: ({ agentName }) => <Denied agentName={agentName} counts={countsOf(agentName)} />,
    },
    {
      head: 'Controls in effect',
      className: 'number',
      cell: ({ activeControlsCount }) =>
        activeControlsCount === 0 ? <span className="uncovered">none</span> : activeControlsCount,
    },
    {
      head: 'Policies',
      className: 'number',
      cell: ({ agentName, policyIds }) =>
        policyIds.length === 0 ? (
          0
        ) : (
          <Link href={`${agentAddress(agentName)}?tab=policies`}>{policyIds.length}</Link>
        ),
    },
  ];
}

interface DeniedProps {
  readonly agentName: string;
  readonly counts: ReturnType<CountsOf>;
}

/** How many of the evaluated steps of an agent were denied, and how many of these by an error. */
function Denied({ agentName, counts }: DeniedProps) {
  if (counts === undefined) return <span className="muted">…</span>;
  if (counts === 'none' || counts.evaluated === 0n) return <span className="muted">no steps</span>;
  const { denied, deniedByError, evaluated } = counts;
  const text = `${denied.toLocaleString('en')} of ${evaluated.toLocaleString('en')}`;
  if (denied === 0n) return text;
  return (
    <>
      <Link
        href={eventsAddress({ agent: agentName, range: '24h', action: 'deny' })}
        title={shareText(denied, evaluated)}
      >
        {text}
      </Link>
      {deniedByError > 0n && (
        <>
          ,{' '}
          <Link className="by-error" href={eventsAddress({ agent: agentName, range: '24h', errors: true })}>
            {deniedByError.toLocaleString('en')} by error
          </Link>
        </>
      )}
    </>
  );
}
