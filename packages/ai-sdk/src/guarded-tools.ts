import { isToolRefusal, type ToolCalls, type ToolRefusal } from '@control-enforcement/client/frameworks';
import type { Tool, ToolSet } from 'ai';

/** Tools whose result may also be why they did not run. */
export type GuardedTools<Tools extends ToolSet> = {
  [Name in keyof Tools]: Tools[Name] extends Tool<infer Input, infer Output, infer Context>
    ? Tool<Input, Output | ToolRefusal, Context>
    : Tools[Name];
};

/** Ids of a call, as the AI SDK tells them. */
interface CallIds {
  readonly toolCallId: string;
  readonly abortSignal?: AbortSignal | undefined;
}

/** What a guard needs of a tool, whatever the types of its data. */
interface AnyTool {
  readonly execute?: (input: unknown, options: CallIds) => unknown;
  readonly needsApproval?: boolean | ((input: unknown, options: CallIds) => boolean | PromiseLike<boolean>);
  readonly toModelOutput?: (options: { readonly output: unknown }) => unknown;
}

/**
 * Guards the tools that run in this process. Those without `execute` run elsewhere: what the model calls them with is checked
 * with its answer.
 */
export function guardTools<Tools extends ToolSet>(calls: ToolCalls, tools: Tools): GuardedTools<Tools> {
  const guarded = Object.entries<unknown>(tools).map(([name, tool]) => [
    name,
    guardTool(calls, name, tool as AnyTool),
  ]);
  return Object.fromEntries(guarded);
}

function guardTool(calls: ToolCalls, name: string, tool: AnyTool): AnyTool {
  const { execute, needsApproval, toModelOutput } = tool;
  if (execute === undefined) return tool;
  const callOf = (input: unknown, { toolCallId, abortSignal }: CallIds) => ({
    name,
    input,
    stepId: toolCallId,
    signal: abortSignal,
  });
  return {
    ...tool,
    execute: (input, options) =>
      // Preliminary results are not shown: only the last one is checked.
      calls.run(callOf(input, options), async (allowed) => lastOf(await execute(allowed, options))),
    async needsApproval(input, options) {
      const needed =
        typeof needsApproval === 'function' ? await needsApproval(input, options) : needsApproval;
      return needed === true || (await calls.approval(callOf(input, options))) !== undefined;
    },
    ...(toModelOutput === undefined
      ? {}
      : {
          toModelOutput: (options) =>
            isToolRefusal(options.output) ? { type: 'json', value: options.output } : toModelOutput(options),
        }),
  };
}

async function lastOf(result: unknown): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result;
  let last: unknown;
  for await (const one of result as AsyncIterable<unknown>) last = one;
  return last;
}
