/** What adapters of frameworks have in common: `@control-enforcement/client/frameworks`. Nothing in here knows a framework. */
export type { Approval } from '../approvals.js';
export type { FrameworkCall, FrameworkOptions, ModelOptions, Refused } from './framework-options.js';
export {
  type AnswerShape,
  createModelCalls,
  type ModelCall,
  type ModelCalls,
  type ModelMessage,
  type ModelOutput,
  type ModelRequest,
  type ModelUsage,
} from './model-calls.js';
export { checkedStream, type PartKind, type StreamShape } from './model-stream.js';
export { isSameData, parsedArguments, shownFile, shownMembers, unchangeableMessages } from './shown-data.js';
export {
  createTextWindows,
  ReleasedTextError,
  type TextWindows,
  type WindowHost,
  type WindowOptions,
} from './text-windows.js';
export { createToolCalls, type ToolCall, type ToolCalls, type ToolDecision } from './tool-calls.js';
export { isToolRefusal, refusalOf, type ToolRefusal } from './tool-refusal.js';
