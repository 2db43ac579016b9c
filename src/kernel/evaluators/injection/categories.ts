/** What rules look for, by the names of configurations, which are the kinds of findings. */
export const INJECTION_CATEGORIES = {
  override: 'instructions to ignore, forget or replace the instructions of the system',
  jailbreak: 'roles and modes without restrictions',
  role_marker: 'tokens of chat templates and headings that pass for messages of the system',
  prompt_leak: 'requests for the system prompt',
  exfiltration: 'requests to send secrets or the conversation elsewhere; images whose address carries data',
  tool_coercion: 'orders to call tools without asking or telling the user',
  hidden_text:
    'text that people do not see: tag characters, zero-width characters, overrides of direction, invisible HTML',
  encoded: 'base64 that decodes to one of the above',
} as const;

export type InjectionCategory = keyof typeof INJECTION_CATEGORIES;

export const CATEGORY_NAMES = Object.keys(INJECTION_CATEGORIES) as readonly InjectionCategory[];
