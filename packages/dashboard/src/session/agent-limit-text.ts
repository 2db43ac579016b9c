/** The agents that a caller is limited to. */
export interface AgentLimit {
  readonly names: readonly string[];
  /** Patterns with `*`: which agents have such names is not told. */
  readonly patterns: readonly string[];
}

export function limitOf(agents: readonly string[]): AgentLimit {
  const isPattern = (agent: string) => agent.includes('*');
  return {
    names: agents.filter((agent) => !isPattern(agent)).sort(),
    patterns: agents.filter(isPattern).sort(),
  };
}

/** The limit in words, for example `a-bot, b-bot and agents whose names match team-*`. */
export function limitText({ names, patterns }: AgentLimit, max = 5): string {
  const shown = names.slice(0, max);
  const parts = [
    ...(names.length > max ? [...shown, `${names.length - max} more`] : shown),
    ...(patterns.length === 0 ? [] : [`agents whose names match ${patterns.slice(0, max).join(' or ')}`]),
  ];
  if (parts.length === 0) return 'no agent';
  return parts.length === 1 ? `${parts[0]}` : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}
