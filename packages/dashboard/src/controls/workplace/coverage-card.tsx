import { useQuery } from '@connectrpc/connect-query';
import { ControlService, type GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { agentAddress } from '../../references/columns.js';
import { NameLink } from '../../ui/name-link.js';
import { numberOf } from '../../ui/numbers.js';
import { QueryState } from '../../ui/states.js';

const NAMED = 5;
const MAX_NAME = 28;

/** Which agents the control checks and through which policies: the first of each, and how many there are. */
export function CoverageCard({ control }: { readonly control: GetControlResponse }) {
  const input = { controlId: control.id, limit: NAMED };
  const agents = useQuery(ControlService.method.listControlAgents, input);
  const policies = useQuery(ControlService.method.listControlPolicies, input);
  return (
    <section className="card side-card" aria-label="Coverage">
      <h2>
        Coverage
        <Link href={`/controls/${control.id}?tab=usage`}>Used by</Link>
      </h2>
      <QueryState query={agents} what="agents">
        {({ agents: first, pagination }) =>
          first.length === 0 ? (
            <p className="muted">No agent has this control, so it checks no step.</p>
          ) : (
            <Named
              number={numberOf(pagination?.total ?? first.length, 'agent')}
              rest={(pagination?.total ?? 0) - first.length}
              links={first.map(({ agentName }) => (
                <NameLink key={agentName} href={agentAddress(agentName)} name={agentName} max={MAX_NAME} />
              ))}
            />
          )
        }
      </QueryState>
      <QueryState query={policies} what="policies">
        {({ policies: first, pagination }) =>
          first.length === 0 ? (
            <p className="muted">In no policy.</p>
          ) : (
            <Named
              number={numberOf(pagination?.total ?? first.length, 'policy', 'policies')}
              rest={(pagination?.total ?? 0) - first.length}
              links={first.map(({ id, name }) => (
                <NameLink key={id} href={`/policies/${id}`} name={name} max={MAX_NAME} />
              ))}
            />
          )
        }
      </QueryState>
    </section>
  );
}

interface NamedProps {
  readonly number: string;
  readonly links: readonly ReactNode[];
  readonly rest: number;
}

function Named({ number, links, rest }: NamedProps) {
  return (
    <p className="links">
      <strong>{number}</strong>
      {links}
      {rest > 0 && <span className="muted">and {rest.toLocaleString()} more</span>}
    </p>
  );
}
