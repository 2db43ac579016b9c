/**
 * A graph whose tool is interrupted while a person decides about its step, and that goes on after the decision, in any process
 * that has its checkpoints. What the graph is resumed with decides nothing: the tool runs only if the service lets the step pass.
 */
import { ApprovalStateValue } from '@control-enforcement/client';
import { tool } from '@langchain/core/tools';
import {
  Command,
  INTERRUPT,
  interrupt,
  isInterrupted,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';

/** A graph that calls `pay` as the last message asks. A real one has a model before it. */
export function createGraph(client, pay, checkpointer) {
  const guarded = client.guard((payment, _config) => pay(payment), {
    step: 'pay',
    // A call that is repeated after an interrupt is the same call.
    stepId: (_payment, { toolCall }) => toolCall.id,
    sessionId: (_payment, { configurable }) => configurable.thread_id,
    onAsk(approval) {
      // It throws until the graph is resumed, which calls the tool again. If the decision is still missing then, `interrupt`
      // returns what the graph was resumed with: it is interrupted once more.
      for (;;) interrupt({ approvalId: approval.id, expiresAt: approval.expiresAt.toISOString() });
    },
    // The model learns that the step was denied, or not approved.
    onRefused: (error) => error.message,
  });
  const payTool = tool(guarded, {
    name: 'pay',
    description: 'Pays an amount to an account.',
    schema: z.object({ amount: z.number(), to: z.string() }),
  });
  return new StateGraph(MessagesAnnotation)
    .addNode('tools', new ToolNode([payTool]))
    .addEdge(START, 'tools')
    .compile({ checkpointer });
}

/** Runs a graph to its end. Another process may take over at any interrupt: the thread and the approvals are all it needs. */
export async function runGraph(client, graph, agentName, input, config) {
  let state = await graph.invoke(input, config);
  while (isInterrupted(state)) {
    for (const { value } of state[INTERRUPT]) await decided(client, agentName, value.approvalId);
    state = await graph.invoke(new Command({ resume: 'decided' }), config);
  }
  return state;
}

/** Waits until an approval is decided or has ended. */
async function decided(client, agentName, approvalId) {
  for (;;) {
    const { approval } = await client.approvals.awaitApproval({
      agentName,
      approvalId,
      wait: { seconds: 30n },
    });
    if (approval.state !== ApprovalStateValue.PENDING) return;
  }
}
