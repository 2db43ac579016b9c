import { isToolRefusal, parsedArguments, type ToolCalls } from '@control-enforcement/client/frameworks';
import type { FunctionTool, RunToolApprovalItem, Tool } from '@openai/agents';

/** Guards the function tools; others run where the model does, or have no checks of their own. */
export function guardTool<Guarded extends Tool>(calls: ToolCalls, tool: Guarded): Guarded {
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

/** Waits until people have decided about all interruptions, and tells the state. */
export async function decideInterruptions(
  calls: ToolCalls,
  interruptions: readonly RunToolApprovalItem[],
  state: Deciding,
): Promise<void> {
  await Promise.all(
    interruptions.map(async (item) => {
      const { rawItem } = item;
      const stepId = 'callId' in rawItem ? rawItem.callId : undefined;
      const call = { name: item.name ?? '', input: parsedArguments(item.arguments ?? '{}'), stepId };
      const decision = await calls.decision(call);
      if (decision.approved) state.approve(item);
      else state.reject(item, { message: JSON.stringify(decision.refusal) });
    }),
  );
}
