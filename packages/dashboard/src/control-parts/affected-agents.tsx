import { useQuery } from '@connectrpc/connect-query';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { numberOf } from '../ui/numbers.js';
import { UserText } from '../ui/user-text.js';

/** Names that are shown of the affected agents. */
export const SHOWN_AGENTS = 5;

interface AgentNamesProps {
  readonly names: readonly string[];
  readonly total: number;
}

/** The number of agents and the first of their names, for example `7 agents: a, b, c and 4 more`. */
export function AgentNames({ names, total }: AgentNamesProps) {
  return (
    <>
      <strong>{numberOf(total, 'agent')}</strong>
      {names.length > 0 && ': '}
      {names.map((name, index) => (
        <span key={name}>
          {index > 0 && ', '}
          <UserText text={name} />
        </span>
      ))}
      {total > names.length && names.length > 0 && ` and ${(total - names.length).toLocaleString()} more`}
    </>
  );
}

/** The agents that a stored control checks; dots until they are known. */
export function AffectedAgents({ controlId }: { readonly controlId: number }) {
  const { data } = useQuery(ControlService.method.listControlAgents, { controlId, limit: SHOWN_AGENTS });
  if (data === undefined) return '… agents';
  return (
    <AgentNames names={data.agents.map(({ agentName }) => agentName)} total={data.pagination?.total ?? 0} />
  );
}
