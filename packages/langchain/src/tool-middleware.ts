import { isToolRefusal, type ToolCalls, type ToolRefusal } from '@control-enforcement/client/frameworks';
import { ToolMessage } from '@langchain/core/messages';
import type { Command } from '@langchain/langgraph';
import { interruptFor } from './interrupts.js';
import { withContent } from './messages.js';

type Result = ToolMessage | Command;

/** A call of a tool, as LangChain gives it to middleware. */
interface Request {
  readonly toolCall: { readonly id?: string; readonly name: string; readonly args: Record<string, unknown> };
  readonly runtime: {
    readonly signal?: AbortSignal;
    readonly configurable?: { readonly thread_id?: string };
  };
}

/** Runs a tool if it may run, and shows the model what it may see of the result. */
export async function runGuarded<Given extends Request>(
  calls: ToolCalls,
  interrupts: boolean,
  request: Given,
  handler: (request: Given) => Result | Promise<Result>,
): Promise<Result> {
  const { toolCall, runtime } = request;
  const { name, id: stepId, args: input } = toolCall;
  const call = { name, input, stepId, sessionId: runtime.configurable?.thread_id, signal: runtime.signal };
  let made: Result | undefined;
  const run = async (args: Record<string, unknown>): Promise<unknown> => {
    made = await handler({ ...request, toolCall: { ...toolCall, args } });
    return ToolMessage.isInstance(made) ? made.content : (made.update ?? null);
  };
  const result = await (interrupts
    ? calls.run(call, run, (approval) => interruptFor(approval, call))
    : calls.run(call, run));
  if (isToolRefusal(result)) return refusedMessage(result, name, stepId);
  if (made === undefined) throw new Error(`the tool "${name}" made no result`);
  if (!ToolMessage.isInstance(made)) {
    if (result === (made.update ?? null)) return made;
    const message = `Step "${name}" ran, and its result is withheld: a command cannot be changed.`;
    return refusedMessage(
      { status: 'output_withheld', reason: 'denied', message, controls: [] },
      name,
      stepId,
    );
  }
  return result === made.content ? made : withContent(made, result as ToolMessage['content']);
}

function refusedMessage(refusal: ToolRefusal, name: string, id: string | undefined): ToolMessage {
  return new ToolMessage({ content: JSON.stringify(refusal), name, tool_call_id: id ?? '', status: 'error' });
}
