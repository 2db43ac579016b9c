/** The two parts of the name `agent:evaluator`. */
export interface AgentScopedName {
  readonly agentName: string;
  readonly evaluatorName: string;
}

/**
 * Parses a name such as `agent:evaluator`; undefined for one without a colon. The first colon splits: the
 * rest belongs to the evaluator, so an agent with a colon in its name cannot be referenced.
 */
export function readAgentScopedName(name: string): AgentScopedName | undefined {
  const colon = name.indexOf(':');
  if (colon === -1) return undefined;
  return { agentName: name.slice(0, colon), evaluatorName: name.slice(colon + 1) };
}
