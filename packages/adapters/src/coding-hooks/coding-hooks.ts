import { z } from 'zod';
import type { AdapterService } from '../../../../gen/proto/enforcement/v1/adapter_service_pb.js';
import type { HandlersOf } from '../../../../src/contract/call/handler.js';
import {
  boolean,
  freeObject,
  nullable,
  text,
  withDefault,
  withExample,
} from '../../../../src/contract/input/fields.js';
import { isObject, type JsonObject, type JsonValue, stringifyJson } from '../../../exact-json/src/index.js';
import type { AdapterEvaluations } from '../steps/adapter-evaluations.js';
import { type Members, membersOf, textOf } from '../steps/members.js';
import { HOOK_NAMES } from '../steps/protocol-names.js';
import { type Settled, type WebhookStep, webhook } from '../steps/webhook.js';

/** Events that are evaluated. */
const CHECKED = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'UserPromptSubmit'] as const;
type Checked = (typeof CHECKED)[number];

/**
 * Events that need no check of their own: nothing runs after them that was not checked before. Of any other event it is not known
 * what runs.
 */
const PASSING = new Set([
  ...['PermissionRequest', 'PermissionDenied', 'Notification', 'SessionStart', 'SessionEnd', 'Setup'],
  ...['Stop', 'StopFailure', 'SubagentStart', 'SubagentStop', 'PreCompact', 'PostCompact', 'PostToolBatch'],
  ...['TaskCreated', 'TaskCompleted', 'TeammateIdle', 'InstructionsLoaded', 'ConfigChange', 'CwdChanged'],
  ...['FileChanged', 'WorktreeRemove'],
]);

/** Members of hooks that are the input and the output of a step, not its context. */
const OF_STEP = new Set(['tool_input', 'tool_response', 'tool_name', 'tool_use_id', 'prompt', 'error']);

/** Longest modified value that is quoted to a model, in UTF-16 code units. */
const MAX_QUOTED = 10_000;

const schema = withExample(
  z.object({
    body: freeObject(),
    agent: nullable(text()),
    rewrites: withDefault(boolean(), false),
  }),
  {
    agent: 'coding-agent-01',
    body: {
      hook_event_name: 'PreToolUse',
      session_id: 'session-1',
      cwd: '/home/dev/project',
      tool_name: 'Bash',
      tool_use_id: 'toolu-1',
      tool_input: { command: 'npm test' },
    },
  },
);

/**
 * Hooks of coding agents (https://code.claude.com/docs/en/hooks; Codex has the same shapes). A reply never allows: `{}` has no
 * opinion, so that the permission prompt of the agent still applies. A hook that fails does not block in some agents:
 * everything that is not allowed, errors included, is answered with 200 and a denial.
 */
export function createCodingHooks(
  evaluations: AdapterEvaluations,
): Pick<HandlersOf<typeof AdapterService>, 'evaluateCodingHook'> {
  return {
    evaluateCodingHook: webhook(evaluations, 'coding-hooks', {
      input: schema,
      names: HOOK_NAMES,
      step: ({ body }) => stepOf(membersOf(body), eventOf(body)),
      reply: (outcome, { body, rewrites }) => replyOf(eventOf(body), outcome, rewrites, body),
      failed: block,
    }),
  };
}

function eventOf({ hook_event_name: name }: JsonObject): Checked | undefined {
  return CHECKED.find((one) => one === name);
}

/** The step of a hook; null for events that need no check. */
function stepOf(hook: Members, event: Checked | undefined): WebhookStep | null {
  if (event === undefined) {
    if (PASSING.has(hook.text('hook_event_name'))) return null;
    return hook.refuse(
      'hook_event_name',
      `is no event that is known here; ${CHECKED.join(', ')} are checked`,
    );
  }
  const context = Object.fromEntries(Object.entries(hook.all).filter(([name]) => !OF_STEP.has(name)));
  const protocol = { session: textOf(hook.all.session_id), step_id: textOf(hook.all.tool_use_id) };
  if (event === 'UserPromptSubmit') {
    const input = hook.text('prompt');
    return { stage: 'pre', type: 'llm', name: 'prompt', input, context, protocol, accepts: ['steer', 'ask'] };
  }
  const name = hook.text('tool_name');
  const input = hook.optionalObject('tool_input')?.all ?? {};
  const tool = { type: 'tool', name, input, context, protocol } as const;
  if (event === 'PreToolUse') return { ...tool, stage: 'pre', accepts: ['steer', 'ask', 'modify'] };
  if (event === 'PostToolUse') {
    const output = hook.all.tool_response ?? null;
    return { ...tool, stage: 'post', output, accepts: ['steer', 'modify'] };
  }
  const error = (hook.optionalText('error') ?? '').slice(0, MAX_ERROR);
  return { ...tool, stage: 'post', error, accepts: ['steer'] };
}

/** Longest error of a step, in UTF-16 code units. */
const MAX_ERROR = 4_096;

function replyOf(
  event: Checked | undefined,
  outcome: Settled,
  rewrites: boolean,
  { tool_response: result, hook_event_name: name }: JsonObject,
): JsonObject {
  if (outcome.kind === 'allow') return {};
  if (event === undefined) return deniedToAll(name, outcome.kind === 'modify' ? '' : outcome.message);
  if (event === 'PreToolUse') {
    if (outcome.kind !== 'modify') return denied(outcome.message);
    const { name, input } = outcome.step;
    if (!rewrites)
      return denied(`Step "${name}" may run only with another input. ${quoted('Repeat it with', input)}`);
    // `allow` would skip the permission prompt of the agent; `ask` shows the other input in it.
    const why = `A policy changes the input of "${name}"`;
    return specific(event, { permissionDecision: 'ask', permissionDecisionReason: why, updatedInput: input });
  }
  if (event === 'PostToolUse') {
    if (outcome.kind !== 'modify') {
      const withheld = rewrites ? specific(event, { updatedToolOutput: withheldFrom(result ?? null) }) : {};
      return { ...block(outcome.message), ...withheld };
    }
    const { name, output } = outcome.step;
    if (rewrites) return specific(event, { updatedToolOutput: output });
    return block(`The result of step "${name}" may be used only in another form. ${quoted('Use', output)}`);
  }
  const message = outcome.kind === 'modify' ? 'A policy forbids it as it is.' : outcome.message;
  // The tool has failed already: there is nothing to block.
  return event === 'PostToolUseFailure' ? specific(event, { additionalContext: message }) : block(message);
}

function denied(reason: string): JsonObject {
  return specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: reason });
}

function specific(hookEventName: Checked, members: JsonObject): JsonObject {
  return { hookSpecificOutput: { hookEventName, ...members } };
}

/**
 * The denial of an event that is not known, in the form of every agent that is known to read one: Gemini CLI and Claude Code
 * (`decision`, `continue`, `hookSpecificOutput`), Cursor (`permission`, `continue`), Copilot (`permissionDecision`), Cline (`cancel`).
 */
function deniedToAll(event: JsonValue | undefined, reason: string): JsonObject {
  const decided = { permissionDecision: 'deny', permissionDecisionReason: reason };
  return {
    ...{ decision: 'block', reason, continue: false, stopReason: reason, systemMessage: reason },
    ...{ permission: 'deny', user_message: reason, agent_message: reason },
    ...{ userMessage: reason, agentMessage: reason },
    ...{ cancel: true, errorMessage: reason, ...decided },
    ...(typeof event === 'string' ? { hookSpecificOutput: { hookEventName: event, ...decided } } : {}),
  };
}

/** The form that every event takes that can be blocked. */
function block(reason: string): JsonObject {
  return { decision: 'block', reason };
}

function quoted(what: string, value: JsonValue): string {
  const written = stringifyJson(value);
  return written.length <= MAX_QUOTED
    ? `${what} exactly this one: ${written}`
    : 'It is too large to be shown here, so it counts as denied.';
}

/** A value of the same shape without what it says: agents refuse results of another shape than that of the tool. */
function withheldFrom(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withheldFrom);
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withheldFrom(member)]));
  if (typeof value === 'string') return '[withheld]';
  return typeof value === 'boolean' || value === null ? value : 0;
}
