import type { ListAgentsResponse } from '@gen/enforcement/v1/agent_service_pb.js';
import { Link } from 'wouter';
import { agentAddress } from '../references/columns.js';
import { NameLink } from '../ui/name-link.js';
import { numberOf } from '../ui/numbers.js';
import { type QueryLike, QueryState } from '../ui/states.js';

interface CoverageProps {
  /** The first agents that no control checks. */
  readonly uncovered: QueryLike<ListAgentsResponse>;
  /** Number of all agents; undefined while it is not known. */
  readonly agents: number | undefined;
}

/** Whether every agent has a control in effect, and which have none. */
export function Coverage({ uncovered, agents }: CoverageProps) {
  return (
    <section className="card coverage">
      <h2>Is every agent covered?</h2>
      <QueryState query={uncovered} what="coverage">
        {({ agents: first, pagination }) => {
          const count = pagination?.total ?? 0;
          if (agents === 0) return <p className="muted">No agent is registered yet.</p>;
          if (count === 0) return <p>Yes: each agent has at least one control that is switched on.</p>;
          return (
            <>
              <p>
                <strong>{numberOf(count, 'agent')} without any control</strong>
                {agents !== undefined && ` of ${agents.toLocaleString()}`}: every step of theirs is allowed.
              </p>
              <ul className="names">
                {first.map(({ agentName }) => (
                  <li key={agentName}>
                    <NameLink href={agentAddress(agentName)} name={agentName} max={40} />
                  </li>
                ))}
              </ul>
              <Link href="/agents?controls=none">
                {count === 1 ? 'Show it in the list' : `All ${numberOf(count, 'agent')} without any control`}
              </Link>
            </>
          );
        }}
      </QueryState>
    </section>
  );
}
