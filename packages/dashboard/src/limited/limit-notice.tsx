import { type AgentLimit, limitText } from '../session/agent-limit-text.js';

/** Which agents the caller may see. */
export function LimitNotice({ limit }: { readonly limit: AgentLimit }) {
  return (
    <p className="notice" dir="auto">
      This key is limited to agents: it sees {limitText(limit)}, and nothing that concerns others.
    </p>
  );
}
