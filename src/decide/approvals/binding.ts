import { createHash } from 'node:crypto';
import {
  canonicalJson,
  isObject,
  type JsonValue,
  parseStoredJson,
} from '../../../packages/exact-json/src/index.js';
import type { TargetName } from '../../contract/call/namespace.js';
import type { ApprovalBinding, ApprovalReuse } from '../../kernel/core/lift.js';
import type { Step } from '../../kernel/core/types.js';
import { isStorable } from '../../storage/database/text.js';
import type { AskedStep } from '../decisions/approval-gate.js';

/** Version of what is hashed: another one makes every stored approval void. */
const SCHEMA_VERSION = '1';

/** What of a control an approval is bound to. */
export interface BoundControl {
  readonly id: number;
  readonly definitionHash: string;
  readonly bind: ApprovalBinding;
  readonly reuse: ApprovalReuse;
}

/** Who takes the step, where. */
export interface BoundCall {
  /** Name of the namespace. */
  readonly namespace: string;
  /** Normalised. */
  readonly agentName: string;
  readonly sessionId: string | null;
  readonly target: TargetName | null;
}

/**
 * SHA-256, in hexadecimal digits, of everything that an approval is bound to: equal for two steps only if the agent, the target, the
 * definitions of the controls, by id ascending, type and name of the step, and every bound part are canonically equal, and the
 * session if a control says so.
 * Canonical JSON makes it injective: an absent part differs from null, numbers keep all digits, and texts are not normalised.
 */
export function bindingOf(call: BoundCall, controls: readonly BoundControl[], step: Step): string {
  const { type, name, input, output, context } = step;
  const { target } = call;
  // A step with none of the bound parts is bound as a whole: otherwise an approval of one were an approval of all such steps.
  const bindsStep = controls.some(
    ({ bind }) => bind === 'step' || bind.every((path) => partOf(step, path).length === 0),
  );
  const bindsSession = controls.some(({ reuse }) => reuse === 'session');
  return sha256(
    canonicalJson({
      schema_version: SCHEMA_VERSION,
      namespace: call.namespace,
      agent: call.agentName,
      ...(bindsSession ? { session: call.sessionId } : {}),
      target: target === null ? null : { type: target.type, id: target.id },
      type,
      name,
      controls: controls.map(({ id, definitionHash, bind }) => ({
        id,
        definition: definitionHash,
        bind: bind === 'step' ? bind : bind.map((path) => [path, ...partOf(step, path)]),
      })),
      ...(bindsStep ? { step: { type, name, input, output, context } } : {}),
    }),
  );
}

/** The data at a path as selectors read it, in a list; an empty list where there is nothing. */
function partOf(step: Step, path: string): readonly JsonValue[] {
  const { type, name, input, output, context } = step;
  let value: JsonValue = { type, name, input, output, context };
  if (path === '*') return [value];
  for (const key of path.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return [];
    value = value[key] ?? null;
  }
  return [value];
}

/** The hash of a stored definition, as the core has it; null for a text that is not JSON. */
export function definitionHashOf(text: string): string | null {
  try {
    return sha256(canonicalJson(parseStoredJson(text)));
  } catch {
    return null;
  }
}

/** The strictest of several rules: once, the fewest seconds, the session. */
export function strictestReuse(rules: readonly ApprovalReuse[]): ApprovalReuse {
  if (rules.includes('once')) return 'once';
  const seconds = rules.flatMap((rule) => (typeof rule === 'object' ? [rule.seconds] : []));
  return seconds.length === 0 ? 'session' : { seconds: Math.min(...seconds) };
}

/** Identifies an evaluation that a client may repeat; null without a step id. */
export function callKey(sessionId: string | null, stepId: string | null): string | null {
  return stepId === null ? null : sha256(canonicalJson([sessionId, stepId]));
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** What approvals of a step are found by. */
export interface Key {
  readonly binding: string;
  readonly call: string | null;
}

/** The key of a step, or why it cannot have one. */
export function keyOf(asked: AskedStep): Key | { readonly refusal: string } {
  const { agentName, sessionId, stepId, target, step, controls, caller } = asked;
  const bound = controls.flatMap(({ id, definitionHash, approval }) =>
    approval === null ? [] : [{ id, definitionHash, bind: approval.bind, reuse: approval.reuse }],
  );
  if (bound.length !== controls.length) return { refusal: 'a control that changes steps cannot ask' };
  if (sessionId === null && bound.some(({ reuse }) => reuse === 'session')) {
    return { refusal: 'an approval for a session needs the session_id of the step' };
  }
  const texts = [sessionId, stepId, target?.type, target?.id, step.type, step.name];
  if (!texts.every((text) => typeof text !== 'string' || isStorable(text))) {
    return { refusal: 'the names of the step cannot be stored: they have NUL or half a surrogate pair' };
  }
  const call = { namespace: caller.namespace.name, agentName, sessionId, target };
  return { binding: bindingOf(call, bound, step), call: callKey(sessionId, stepId) };
}
