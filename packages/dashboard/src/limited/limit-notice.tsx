import { useAgentLimit } from './agent-limit.js';
import { type AgentLimit, limitText } from './agent-limit-text.js';

/** Which agents the caller may see. */
export function LimitNotice({ limit }: { readonly limit: AgentLimit }) {
  return (
    <p className="notice" dir="auto">
      This key is limited to agents: it sees {limitText(limit)}, and nothing that concerns others.
    </p>
  );
}

/** The same below a refusal; nothing for a caller without a limit. */
export function LimitOfRefusal() {
  const limit = useAgentLimit();
  return limit === undefined ? null : <LimitNotice limit={limit} />;
}
