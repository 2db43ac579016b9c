export function agentAddress(agentName: string): string {
  return `/agents/${encodeURIComponent(agentName)}`;
}
