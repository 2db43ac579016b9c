import type { ToolCalls } from '@control-enforcement/client/frameworks';
import type { ToolModelMessage } from 'ai';

/** A request of the AI SDK for an approval, as it is in the content of a result. */
export interface ApprovalRequest {
  readonly type: 'tool-approval-request';
  readonly approvalId: string;
  readonly toolCall: { readonly toolCallId: string; readonly toolName: string; readonly input: unknown };
}

/**
 * Waits until people have decided about all calls that wait in the content of a result, and makes the message with which the
 * SDK goes on; undefined if none waits. It has no answers to requests that need no approval of the service: those are the
 * application's own.
 */
export async function decideApprovals(
  calls: ToolCalls,
  content: readonly { readonly type: string }[],
): Promise<ToolModelMessage | undefined> {
  const requests = content.filter(isRequest);
  const responses = requests.map(async ({ approvalId, toolCall: { toolCallId, toolName, input } }) => {
    const decision = await calls.decision({ name: toolName, input, stepId: toolCallId });
    const type = 'tool-approval-response' as const;
    if (decision === undefined) return [];
    if (decision.approved) return [{ type, approvalId, approved: true }];
    return [{ type, approvalId, approved: false, reason: JSON.stringify(decision.refusal) }];
  });
  const answers = (await Promise.all(responses)).flat();
  return answers.length === 0 ? undefined : { role: 'tool', content: answers };
}

function isRequest(part: { readonly type: string }): part is ApprovalRequest {
  return (
    part.type === 'tool-approval-request' &&
    'toolCall' in part &&
    !('isAutomatic' in part && part.isAutomatic)
  );
}
