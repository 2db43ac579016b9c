import { useQuery } from '@connectrpc/connect-query';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { Link } from 'wouter';
import { NewerPacks } from '../packs/newer-packs.js';
import { agentAddress } from '../references/columns.js';
import { NameLink } from '../ui/name-link.js';
import { numberOf } from '../ui/numbers.js';
import { QueryState } from '../ui/states.js';

const UNCOVERED_SHOWN = 5;
const REFRESH = { refetchInterval: 15_000 } as const;

/** How many agents, controls and policies there are, and which agents no control checks. */
export function Fleet() {
  const agents = useQuery(AgentService.method.listAgents, { limit: 1 }, REFRESH);
  const uncovered = useQuery(
    AgentService.method.listAgents,
    { limit: UNCOVERED_SHOWN, hasActiveControls: false },
    REFRESH,
  );
  const controls = useQuery(ControlService.method.listControls, { limit: 1 }, REFRESH);
  const policies = useQuery(PolicyService.method.listPolicies, { limit: 1 }, REFRESH);
  const total = agents.data?.pagination?.total;
  return (
    <section className="card fleet">
      <h2>Agents and controls</h2>
      <dl className="facts">
        <Count name="Agents" href="/agents" value={total} />
        <Count name="Controls" href="/controls" value={controls.data?.pagination?.total} />
        <Count name="Policies" href="/policies" value={policies.data?.pagination?.total} />
      </dl>
      <NewerPacks />
      <QueryState query={uncovered} what="coverage">
        {({ agents: first, pagination }) => {
          const count = pagination?.total ?? 0;
          if (total === 0) return <p className="muted">No agent is registered yet.</p>;
          if (count === 0) return <p>Each agent has at least one control that is switched on.</p>;
          return (
            <>
              <p>
                <strong>{numberOf(count, 'agent')} without any control</strong>
                {total !== undefined && ` of ${total.toLocaleString()}`}: every step of theirs is allowed.
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

interface CountProps {
  readonly name: string;
  readonly href: string;
  readonly value: number | undefined;
}

function Count({ name, href, value }: CountProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value === undefined ? '…' : <Link href={href}>{value.toLocaleString()}</Link>}</dd>
    </div>
  );
}
