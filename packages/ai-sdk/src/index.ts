/** The AI SDK with the Control Enforcement Service: guarded tools, and a middleware for models. */
import {
  createModelCalls,
  createToolCalls,
  type FrameworkOptions,
} from '@control-enforcement/client/frameworks';
import type { LanguageModelMiddleware, ToolModelMessage, ToolSet } from 'ai';
import { decideApprovals } from './approvals.js';
import { type GuardedTools, guardTools } from './guarded-tools.js';
import { createModelMiddleware } from './model-middleware.js';

export {
  type FrameworkOptions,
  isToolRefusal,
  type ModelOptions,
  type ToolRefusal,
  type WindowOptions,
} from '@control-enforcement/client/frameworks';
export type { ApprovalRequest } from './approvals.js';
export type { GuardedTools } from './guarded-tools.js';

/** Enforcement for one agent. */
export interface Enforcement {
  /** Tools that are checked before and after they run, for `generateText`, `streamText` and agents. */
  tools<Tools extends ToolSet>(tools: Tools): GuardedTools<Tools>;
  /** For `wrapLanguageModel`: checks what goes to the model, and what it answers. */
  readonly middleware: LanguageModelMiddleware;
  /**
   * Waits for people to decide about the calls that wait in `content` of a result. Append the message after
   * `responseMessages`, and call the SDK again: what is approved runs if the service then lets it pass. Undefined if no call
   * waits for an approval of the service; what a tool's own `needsApproval` asks, the application answers.
   */
  decide(content: readonly { readonly type: string }[]): Promise<ToolModelMessage | undefined>;
}

export function createEnforcement(options: FrameworkOptions): Enforcement {
  const calls = createToolCalls(options);
  return {
    tools: (tools) => guardTools(calls, tools),
    middleware: createModelMiddleware(createModelCalls(options)),
    decide: (content) => decideApprovals(calls, content),
  };
}
