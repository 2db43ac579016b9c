import { isToolRefusal, parsedArguments, type ToolCalls } from '@control-enforcement/client/frameworks';
import type { FunctionTool, RunToolApprovalItem, Tool } from '@openai/agents';
import { type CallIds, guardEditor, guardShell } from './local-tools.js';

/** Guards the tools that run in this process. Throws a TypeError for one that runs here and cannot be checked. */
export function guardTool<Guarded extends Tool>(calls: ToolCalls, ids: CallIds, tool: Guarded): Guarded {
  if (tool.type === 'shell' && tool.shell !== undefined) return guardShell(calls, ids, tool) as Guarded;
  if (tool.type === 'apply_patch') return guardEditor(calls, ids, tool) as Guarded;
  if (tool.type === 'computer')
    throw new TypeError(
      `The tool "${tool.name}" cannot be checked: a computer takes its actions one by one. Give it to the agent as it is, and ` +
        'guard the model, whose answers have the actions.',
    );
  if (tool.type !== 'function') return tool;
  const { name, invoke, needsApproval } = tool satisfies FunctionTool as FunctionTool;
  const guarded: FunctionTool = {
    ...(tool satisfies FunctionTool as FunctionTool),
    async invoke(runContext, input, details) {
      const call = {
        name,
        input: parsedArguments(input),
        stepId: details?.toolCall?.callId,
        signal: details?.signal,
      };
      const result = await calls.run(call, (allowed) =>
        invoke(runContext, allowed === call.input ? input : textOf(allowed), details),
      );
      // The SDK tells a model text: of an object it would tell the members that it knows.
      return isToolRefusal(result) ? JSON.stringify(result) : result;
    },
    needsApproval: async (runContext, input, callId) =>
      (await needsApproval(runContext, input, callId)) ||
      (await calls.approval({ name, input, stepId: callId })) !== undefined,
  };
  return guarded as Guarded;
}

function textOf(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}

/** The state of a run that can be told decisions. */
export interface Deciding {
  approve(item: RunToolApprovalItem): void;
  reject(item: RunToolApprovalItem, options: { message: string }): void;
}

/**
 * Waits until people have decided about all interruptions, and tells the state. Returns those that need no approval of the service:
 * they are the application's own.
 */
export async function decideInterruptions(
  calls: ToolCalls,
  ids: CallIds,
  interruptions: readonly RunToolApprovalItem[],
  state: Deciding,
): Promise<RunToolApprovalItem[]> {
  const left = interruptions.map(async (item) => {
    const { rawItem } = item;
    const stepId = 'callId' in rawItem ? rawItem.callId : undefined;
    const local = ids.keep(rawItem);
    const name = item.name ?? item.toolName ?? '';
    const input = local ?? parsedArguments(item.arguments ?? '{}');
    const decision = await calls.decision({ name, input, stepId });
    if (decision === undefined) return [item];
    if (decision.approved) state.approve(item);
    else state.reject(item, { message: JSON.stringify(decision.refusal) });
    return [];
  });
  return (await Promise.all(left)).flat();
}
