/**
 * An agent whose run is interrupted while a person decides about a step, and goes on after the decision, in any process that has
 * its state. What the state says decides nothing: the tool runs only if the service lets the step pass.
 */
import { Agent, run, tool } from '@openai/agents';
import { z } from 'zod';

/** What a caller can act on, besides a step that is allowed or denied. */
const ACCEPTS = ['steer', 'ask', 'modify'];

/** An agent with the tool `pay`. */
export function createAgent(client, pay, model) {
  return new Agent({
    name: 'payer',
    instructions: 'Pay what the user asks for.',
    model,
    tools: [
      tool({
        name: 'pay',
        description: 'Pays an amount to an account.',
        parameters: z.object({ amount: z.number(), to: z.string() }),
        // The call has one id of a step, so that all its evaluations are about one call.
        needsApproval: async (_context, payment, callId) => {
          const step = { name: 'pay', input: payment };
          const evaluation = await client.evaluate(
            { stage: 'pre', step },
            { stepId: callId, accepts: ACCEPTS },
          );
          return evaluation.evaluated && evaluation.outcome === 'ask';
        },
        execute: client.guard((payment, _context, _details) => pay(payment), {
          step: 'pay',
          stepId: (_payment, _context, details) => details?.toolCall?.callId,
          // The model learns that the step was denied, or not approved.
          onRefused: (error) => error.message,
        }),
      }),
    ],
  });
}

/** Runs an agent to its end. Another process may take over at any interruption, with `RunState.fromString`. */
export async function runAgent(client, agent, input) {
  let result = await run(agent, input);
  while (result.interruptions.length > 0) {
    await Promise.all(result.interruptions.map((item) => decide(client, result.state, item)));
    result = await run(agent, result.state);
  }
  return result.finalOutput;
}

/** Waits for the decision about a call, and tells it to the state of the run. */
async function decide(client, state, item) {
  const step = { name: item.name, input: JSON.parse(item.arguments) };
  const options = { stepId: item.rawItem.callId, accepts: ACCEPTS, waitForApproval: {} };
  const evaluation = await client.evaluate({ stage: 'pre', step }, options);
  // What a person has changed runs as well: the guard changes it.
  if (evaluation.isSafe || evaluation.outcome === 'modify') return state.approve(item);
  const { approval } = evaluation;
  return state.reject(item, { message: `It was not approved: ${approval?.reason ?? evaluation.reason}` });
}
