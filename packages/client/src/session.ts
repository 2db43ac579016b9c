import type { Client, SessionOptions, ToolSession } from './client-types.js';
import { guardTool } from './guard.js';
import { newId } from './new-id.js';
import { checkOptionNames } from './settings.js';

/** Longest id of a session, as the service takes it. */
const MAX_ID_LENGTH = 255;

/** A session of an agent: its steps have its id, and each call of a tool the id of a step of its own. */
export function createSession(
  evaluate: Client['evaluate'],
  agent: string | undefined,
  options: SessionOptions,
): ToolSession {
  checkOptionNames('session', options, ['sessionId', 'waitForLimits']);
  const { sessionId = newId(), waitForLimits } = options;
  if (sessionId === '' || sessionId.length > MAX_ID_LENGTH) {
    throw new RangeError(`session: sessionId must have 1 to ${MAX_ID_LENGTH} characters`);
  }
  const scope = { agent, sessionId, waitForLimits };
  return {
    id: sessionId,
    evaluate: (request, given = {}) =>
      evaluate({ agent, ...request }, { waitForLimits, ...given, sessionId }),
    guard: (tool, given) => guardTool(evaluate, tool, given, scope),
  };
}
