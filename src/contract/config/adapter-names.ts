/** Protocols of others by which steps are evaluated: an adapter for each, in `packages/adapters`. */
export const ADAPTER_NAMES = [
  'authzen',
  'coding-hooks',
  'agent-hooks',
  'litellm',
  'copilot-studio',
  'agentgateway',
  'ext-mcp',
  'ext-authz',
] as const;

export type AdapterName = (typeof ADAPTER_NAMES)[number];

export function isAdapterName(text: string): text is AdapterName {
  return ADAPTER_NAMES.some((name) => name === text);
}
