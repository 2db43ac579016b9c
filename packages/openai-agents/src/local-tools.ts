import { isToolRefusal, type ToolCalls } from '@control-enforcement/client/frameworks';
import type { ApplyPatchTool, RunContext, ShellTool, Tool } from '@openai/agents';

/** The ids of calls by their actions: the SDK tells them where it asks about approvals, and not where a tool runs. */
export interface CallIds {
  of(action: object): string | undefined;
  set(action: object, callId: string | undefined): void;
  /** Keeps the id of a call of a shell or an editor, and returns its action; undefined for other calls. */
  keep(call: object): object | undefined;
}

export function createCallIds(): CallIds {
  const ids = new WeakMap<object, string>();
  const set: CallIds['set'] = (action, callId) => {
    if (callId !== undefined) ids.set(action, callId);
  };
  return {
    of: (action) => ids.get(action),
    set,
    keep(call) {
      const { type, callId, action, operation } = call as LocalCall;
      const given = type === 'shell_call' ? action : type === 'apply_patch_call' ? operation : undefined;
      if (given !== undefined) set(given, callId);
      return given;
    },
  };
}

interface LocalCall {
  readonly type?: string;
  readonly callId?: string;
  readonly action?: object;
  readonly operation?: object;
}

/** The tool with an interruption for calls that a person must approve. */
function asking<Local extends Extract<Tool, { type: 'shell' | 'apply_patch' }>>(
  calls: ToolCalls,
  ids: CallIds,
  tool: Local,
): Local {
  const needsApproval = tool.needsApproval as (
    context: RunContext,
    input: object,
    callId?: string,
  ) => Promise<boolean>;
  return {
    ...tool,
    async needsApproval(context: RunContext, input: object, callId?: string) {
      ids.set(input, callId);
      return (
        (await needsApproval(context, input, callId)) ||
        (await calls.approval({ name: tool.name, input, stepId: callId })) !== undefined
      );
    },
  };
}

/** A shell whose commands are checked before they run, and what they print after. */
export function guardShell(
  calls: ToolCalls,
  ids: CallIds,
  tool: Extract<ShellTool, { shell: object }>,
): ShellTool {
  const { name, shell } = tool;
  return {
    ...asking(calls, ids, tool),
    shell: {
      async run(action) {
        const call = { name, input: action, stepId: ids.of(action) };
        const result = await calls.run(call, (allowed) => shell.run(allowed));
        if (!isToolRefusal(result)) return result;
        const outcome = { type: 'exit' as const, exitCode: null };
        return { output: [{ stdout: '', stderr: JSON.stringify(result), outcome }] };
      },
    },
  };
}

/** An editor of files whose operations are checked. */
export function guardEditor(calls: ToolCalls, ids: CallIds, tool: ApplyPatchTool): ApplyPatchTool {
  const { name, editor } = tool;
  type Operation = Parameters<typeof editor.createFile | typeof editor.updateFile | typeof editor.deleteFile>;
  const edit = async (...[operation, context]: Operation) => {
    const call = { name, input: operation, stepId: ids.of(operation) };
    const result = await calls.run(call, (allowed) => {
      if (allowed.type === 'create_file') return editor.createFile(allowed, context);
      if (allowed.type === 'update_file') return editor.updateFile(allowed, context);
      if (allowed.type === 'delete_file') return editor.deleteFile(allowed, context);
      throw new TypeError('the operation is of another type than those of an editor');
    });
    return isToolRefusal(result)
      ? { status: 'failed' as const, output: JSON.stringify(result) }
      : (result ?? undefined);
  };
  return { ...asking(calls, ids, tool), editor: { createFile: edit, updateFile: edit, deleteFile: edit } };
}
