import type { AgentEvaluations, EvaluationCounts } from '@gen/enforcement/v1/observability_service_pb.js';
import { Link } from 'wouter';
import { eventsAddress } from '../activity/events-address.js';
import { agentAddress } from '../references/columns.js';
import { NameLink } from '../ui/name-link.js';
import { shareText } from '../ui/numbers.js';
import { type Range, rangeParameters } from '../ui/range/range.js';
import type { Column } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';

const MAX_NAME = 32;

type Counted = Pick<AgentEvaluations, 'agentName' | 'counts'>;

interface AgentsByDenialsProps {
  /** Of the table. */
  readonly title?: string;
  readonly agents: readonly Counted[];
  readonly range: Range;
}

/** The agents with the most denials, each with its share of its own evaluations. */
export function AgentsByDenials({
  agents,
  range,
  title = 'Agents with the most denials',
}: AgentsByDenialsProps) {
  const number = (head: string, count: (counts: EvaluationCounts) => string): Column<Counted> => ({
    head,
    className: 'number',
    cell: ({ counts }) => (counts === undefined ? '' : count(counts)),
  });
  return (
    <section>
      <h2>{title}</h2>
      <Table
        label={title}
        rows={agents}
        keyOf={({ agentName }) => agentName}
        empty={<p className="muted">No step was evaluated in this range.</p>}
        columns={[
          {
            head: 'Agent',
            cell: ({ agentName }) => (
              <NameLink
                href={`${agentAddress(agentName)}?${new URLSearchParams(rangeParameters(range))}`}
                name={agentName}
                max={MAX_NAME}
              />
            ),
          },
          {
            head: 'Denied',
            className: 'number',
            cell: ({ agentName, counts }) => (
              <CountLink
                count={counts?.denied ?? 0n}
                href={eventsAddress({ range, agent: agentName, action: 'deny' })}
                what={`denied for ${agentName}`}
              />
            ),
          },
          number('Of its steps', ({ denied, evaluated }) => shareText(denied, evaluated)),
          {
            head: 'By error',
            className: 'number',
            cell: ({ agentName, counts }) => (
              <CountLink
                count={counts?.deniedByError ?? 0n}
                href={eventsAddress({ range, agent: agentName, errors: true })}
                what={`denied by error for ${agentName}`}
              />
            ),
          },
          number('Evaluated', ({ evaluated }) => evaluated.toLocaleString('en')),
        ]}
      />
    </section>
  );
}

interface CountLinkProps {
  readonly count: bigint;
  readonly href: string;
  /** What is counted, for those who cannot see the column. */
  readonly what: string;
}

function CountLink({ count, href, what }: CountLinkProps) {
  const text = count.toLocaleString('en');
  if (count === 0n) return text;
  return (
    <Link href={href} aria-label={`${text} ${what}`}>
      {text}
    </Link>
  );
}
