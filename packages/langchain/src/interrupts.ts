import type { Approval, ToolCalls } from '@control-enforcement/client/frameworks';
import { Command, interrupt } from '@langchain/langgraph';

/** What a graph is interrupted with while a person decides about a call. */
export interface ApprovalInterrupt {
  readonly type: 'approval_required';
  readonly approval_id: number;
  readonly expires_at: string;
  /** The call, for the page that shows it. */
  readonly action: { readonly name: string; readonly args: unknown };
  readonly step_id: string | undefined;
  readonly session_id: string | undefined;
}

/** The call of a tool that waits. */
export interface WaitingCall {
  readonly name: string;
  readonly input: unknown;
  readonly stepId: string | undefined;
  readonly sessionId: string | undefined;
}

/**
 * Interrupts the graph. When it is resumed, the call is evaluated again: what it is resumed with decides nothing. If the decision
 * is still missing then, it is interrupted once more.
 */
export function interruptFor({ id, expiresAt }: Approval, call: WaitingCall): never {
  const value: ApprovalInterrupt = {
    type: 'approval_required',
    approval_id: id,
    expires_at: expiresAt.toISOString(),
    action: { name: call.name, args: call.input },
    step_id: call.stepId,
    session_id: call.sessionId,
  };
  for (;;) interrupt(value);
}

/** An interrupt in the state of a graph. */
export interface GraphInterruption {
  readonly id?: string;
  readonly value?: unknown;
}

/** Waits until people have decided about all calls that wait, and makes the command with which the graph goes on. */
export async function decideInterrupts(
  calls: ToolCalls,
  interrupts: readonly GraphInterruption[],
): Promise<Command | undefined> {
  const decided = interrupts.map(async ({ id, value }) => {
    if (!isApprovalInterrupt(value)) return [];
    const { action, step_id: stepId, session_id: sessionId } = value;
    const decision = await calls.decision({ name: action.name, input: action.args, stepId, sessionId });
    return id === undefined ? [] : [[id, decision?.approved === false ? 'not approved' : 'decided']];
  });
  const answers = (await Promise.all(decided)).flat();
  return answers.length === 0 ? undefined : new Command({ resume: Object.fromEntries(answers) });
}

function isApprovalInterrupt(value: unknown): value is ApprovalInterrupt {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'approval_required';
}
