import { useQuery } from '@connectrpc/connect-query';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { useAgentLimit } from '../session/agent-limit.js';
import { useMay } from '../session/session-context.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { SuggestField } from '../ui/fields/fields.js';

const MAX_SUGGESTIONS = 20;

interface AgentFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly required?: boolean;
  /** `Agent` if it is absent. */
  readonly label?: string;
}

/** A field for the name of an agent, which suggests registered ones. */
export function AgentField({ value, onChange, required = false, label = 'Agent' }: AgentFieldProps) {
  const name = useDebounced(value.trim());
  const limit = useAgentLimit();
  const mayList = useMay('agents.read');
  const { data } = useQuery(
    AgentService.method.listAgents,
    { limit: MAX_SUGGESTIONS, ...(name === '' ? {} : { name }) },
    { enabled: mayList && limit === undefined },
  );
  const names = limit?.names ?? (data?.agents ?? []).map(({ agentName }) => agentName);
  const suggestions = names.map((agentName) => [agentName, agentName] as const);
  return (
    <SuggestField
      label={label}
      value={value}
      onChange={onChange}
      suggestions={suggestions}
      required={required}
    />
  );
}
