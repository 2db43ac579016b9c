import {
  type InputRequiredResult,
  isInputRequiredResult,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Approval, Client } from '../../client/src/index.js';
import type { CallState, CallStates, StateBinding } from './approval-states.js';
import type { Caller } from './caller.js';
import { type Checks, type Outcome, STEP_TYPES } from './checks.js';
import type { GatewayConfig } from './config.js';
import { GatewayError } from './errors.js';
import type { Call, Forward } from './forward.js';
import { createWaitNote } from './notes.js';

/** Decides about a call, and runs it. Its result may also be that the caller has to repeat it. */
export type DecidedCalls = (call: Call) => Promise<Outcome<Result>>;

interface DecidedCallOptions {
  readonly config: Pick<GatewayConfig, 'approvals'>;
  readonly checks: Checks;
  readonly states: CallStates;
  readonly forward: Forward;
  readonly approvals: Pick<Client['approvals'], 'cancelApproval'>;
}

export function createDecidedCalls({
  config,
  checks,
  states,
  forward,
  approvals,
}: DecidedCallOptions): DecidedCalls {
  async function decided(call: Call): Promise<Outcome<Result>> {
    const { caller, ctx, params, request } = call;
    const binding: StateBinding = { ...caller, method: request.method, params };
    const state = await stateOf(ctx, binding);
    if (state?.kind === 'approval' && isDeclined(ctx)) {
      const reason = 'the person at the client declined';
      approvals
        .cancelApproval(
          { agentName: caller.agent, approvalId: state.approval, reason },
          { timeoutMs: 10_000 },
        )
        .catch(() => {});
      return {
        kind: 'refused',
        text: `Step "${call.step}" did not run: its approval was declined.`,
        controls: [],
      };
    }
    const stepId = state?.kind === 'upstream' ? state.stepId : checks.newStepId();
    const answers = await answersOf(call, state);
    if (answers.kind !== 'done') return answers;
    const note = createWaitNote(ctx);
    try {
      const outcome = await checks.decide(
        {
          caller,
          stepId,
          upstream: call.upstream.name,
          type: call.type,
          name: call.step,
          input: call.input,
          stages: call.stages,
          signal: ctx.mcpReq.signal,
          waitMs: waitMsOf(config.approvals, caller, state),
          onWait: note.begin,
        },
        async (input) => {
          note.end();
          return forward(call, { ...call.sent(input), ...answers.result });
        },
      );
      if (outcome.kind === 'ask' && caller.isModern && config.approvals.mode === 'input_required')
        return { kind: 'done', result: await askAgain(outcome.approval, caller, binding, outcome.text) };
      if (outcome.kind !== 'done' || !isInputRequiredResult(outcome.result)) return outcome;
      if (!caller.isModern)
        throw new GatewayError(
          'upstreamFailed',
          `the server "${call.upstream.name}" asks for what the client cannot give`,
        );
      return { kind: 'done', result: await relayedInput(states, outcome.result, stepId, binding) };
    } finally {
      note.end();
    }
  }

  /** What the client answers to what the upstream has asked it for, with the state of the upstream. */
  async function answersOf(call: Call, state: CallState | undefined): Promise<Outcome<Result>> {
    const { caller, ctx, upstream, step, stages } = call;
    if (state?.kind !== 'upstream') return { kind: 'done', result: {} };
    const requestState = state.state === undefined ? {} : { requestState: state.state };
    const { inputResponses, signal } = ctx.mcpReq;
    if (inputResponses === undefined) return { kind: 'done', result: requestState };
    const outcome = await checks.decide(
      {
        caller,
        signal,
        upstream: upstream.name,
        type: STEP_TYPES.answers,
        name: step,
        input: inputResponses,
        stages: stages === 'both' || stages === 'pre' ? 'pre' : 'none',
      },
      async (checked): Promise<Result> => ({ ...requestState, inputResponses: checked }),
    );
    // An answer cannot wait: the approval would need a state of its own.
    return outcome.kind === 'ask' ? { kind: 'refused', text: outcome.text, controls: [] } : outcome;
  }

  async function stateOf(ctx: ServerContext, binding: StateBinding): Promise<CallState | undefined> {
    const sealed = ctx.mcpReq.requestState<unknown>();
    if (sealed === undefined) return undefined;
    return states.open(String(sealed), binding);
  }

  /** Asks the client to repeat the call; if it can open pages, with the page of the approval. */
  async function askAgain(
    { id }: Approval,
    { capabilities }: Caller,
    binding: StateBinding,
    message: string,
  ): Promise<Result> {
    const requestState = await states.seal({ kind: 'approval', approval: id }, binding);
    const { page } = config.approvals;
    const elicitation = capabilities.elicitation as { readonly url?: unknown } | undefined;
    if (page === undefined || elicitation?.url === undefined)
      return { resultType: 'input_required', requestState };
    const params = {
      mode: 'url',
      message,
      url: page.replaceAll('{id}', String(id)),
      elicitationId: `approval-${id}`,
    };
    return {
      resultType: 'input_required',
      inputRequests: { approval: { method: 'elicitation/create', params } },
      requestState,
    };
  }

  return decided;
}

/** Whether a person has refused what the gateway asked the client for. */
function isDeclined({ mcpReq: { inputResponses } }: ServerContext): boolean {
  const answer = inputResponses?.approval as { readonly action?: unknown } | undefined;
  return answer?.action === 'decline';
}

/** How long a call waits for an approval before it is answered. */
function waitMsOf(
  { mode, earlier_versions, wait_seconds, retry_hold_seconds }: GatewayConfig['approvals'],
  { isModern }: Caller,
  state: CallState | undefined,
): number {
  const way = isModern ? mode : earlier_versions;
  if (way === 'wait') return wait_seconds * 1_000;
  return way === 'input_required' && state?.kind === 'approval' ? retry_hold_seconds * 1_000 : 0;
}

/** What the upstream asks the client for; its state is inside of one of the gateway. */
async function relayedInput(
  states: CallStates,
  asked: InputRequiredResult,
  stepId: string,
  binding: StateBinding,
): Promise<Result> {
  const state: unknown = asked.requestState;
  if (state !== undefined && typeof state !== 'string')
    throw new GatewayError('upstreamFailed', 'the server asks for input with a state that is no text');
  const requestState = await states.seal({ kind: 'upstream', state, stepId }, binding);
  return { ...asked, requestState };
}
