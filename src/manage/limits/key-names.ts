import type { MemoryCall, MemoryKey, MemoryRule } from '../../kernel/core/memory.js';
import type { Step } from '../../kernel/core/types.js';
import type { ControlRule } from './control-rules.js';
import { keyIncomplete } from './limit-errors.js';
import type { LimitInputs } from './limit-schemas.js';

export type KeyName = LimitInputs['getMemoryKey']['key'];

/** Rules with their common key: its parts, or the id of its cell. */
export interface NamedKey {
  readonly key: MemoryKey | string;
  readonly rules: readonly ControlRule[];
}

/** Every part of a step is missing in it. */
const NO_STEP = { type: null, name: null, input: null, output: null, context: null } as unknown as Step;

/**
 * The keys that the rules have for what a request names. Throws a VALIDATION_ERROR that names what is missing if no rule has
 * a complete key.
 */
export function namedKeys(
  rules: readonly ControlRule[],
  name: KeyName,
  namespace: string,
  hash: (text: string) => string,
): NamedKey[] {
  if (name.key_id !== undefined) return [{ key: name.key_id, rules }];
  const found = new Map<string, { key: MemoryKey; rules: ControlRule[] }>();
  const missing: string[] = [];
  for (const one of rules) {
    const key = keyOf(one.rule, name, namespace, hash);
    if (typeof key === 'string') {
      missing.push(key);
      continue;
    }
    const id = JSON.stringify(key.parts);
    const same = found.get(id);
    if (same === undefined) found.set(id, { key, rules: [one] });
    else same.rules.push(one);
  }
  if (found.size === 0) throw keyIncomplete(missing);
  return [...found.values()];
}

/** The key of a rule, or the part that is missing. */
function keyOf(
  rule: MemoryRule,
  { agent_name, session_id, step }: KeyName,
  namespace: string,
  hash: (text: string) => string,
): MemoryKey | string {
  const keyFor = (agent: string) => {
    const call: MemoryCall = {
      step: step ?? NO_STEP,
      stage: 'pre',
      // Which step it is decides which part of the state it changes, not whose state it is.
      identity: { namespace, agent, sessionId: session_id ?? null, stepId: 'any', error: null },
    };
    return rule.keyOf(call, hash);
  };
  if (agent_name !== undefined) {
    const key = keyFor(agent_name);
    return 'missing' in key ? key.missing : key;
  }
  const key = keyFor('');
  if ('missing' in key) return key.missing;
  // A key that differs from agent to agent has the agent as a part.
  const other = keyFor('other');
  return 'parts' in other && other.parts.join('\0') === key.parts.join('\0') ? key : 'agent_name';
}
