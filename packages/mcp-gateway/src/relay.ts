import type { Tool } from '@modelcontextprotocol/client';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  isInputRequiredResult,
  type JSONRPCRequest,
  LOG_LEVEL_META_KEY,
  type Result,
  type ServerContext,
  TRACEPARENT_META_KEY,
} from '@modelcontextprotocol/server';
import type { Approval, Client } from '../../client/src/index.js';
import type { CallState, CallStates, StateBinding } from './approval-states.js';
import type { Caller } from './caller.js';
import type { Catalog, KnownTool } from './catalog.js';
import { type Checks, type Outcome, STEP_TYPES, type StepType } from './checks.js';
import type { CheckedStages, GatewayConfig } from './config.js';
import type { DeniedTools } from './denied-tools.js';
import { gatewayError } from './errors.js';
import { createNotes, createWaitNote } from './notes.js';
import { differingHeader } from './param-headers.js';
import type { Upstream } from './upstream.js';

export interface RelayOptions {
  readonly config: GatewayConfig;
  readonly catalog: Catalog;
  readonly checks: Checks;
  readonly states: CallStates;
  /** Undefined if no tool is hidden for what controls say. */
  readonly denied: DeniedTools | undefined;
  readonly approvals: Pick<Client['approvals'], 'cancelApproval'>;
}

/** Answers one request of a caller. */
export type Relay = (request: JSONRPCRequest, caller: Caller, ctx: ServerContext) => Promise<Result>;

/** What is asked of an upstream for a caller, before it is decided. */
interface Call {
  readonly caller: Caller;
  readonly ctx: ServerContext;
  readonly request: JSONRPCRequest;
  readonly params: Record<string, unknown>;
  readonly upstream: Upstream;
  readonly type: StepType;
  /** The name of the step. */
  readonly step: string;
  readonly input: Record<string, unknown>;
  readonly stages: CheckedStages;
  /** The parameters for the upstream with the input that may run: nothing that was not checked. */
  readonly sent: (input: Record<string, unknown>) => Record<string, unknown>;
  readonly tool?: KnownTool;
}

export function createRelay({ config, catalog, checks, states, denied, approvals }: RelayOptions): Relay {
  let running = 0;

  /** `cacheScope: private`, because lists differ between callers. Versions before 2026-07-28 do not have these members. */
  function listOf(member: string, read: (caller: Caller) => Promise<readonly unknown[]>): Relay {
    return async ({ method }, caller, { mcpReq: { signal } }) => {
      const outcome = await checks.decide(
        {
          ...{ caller, signal, upstream: undefined, type: STEP_TYPES.lists, name: method, input: {} },
          ...{ stages: config.checks.lists, stepId: checks.newStepId(), waitMs: 0, onWait() {} },
        },
        async (): Promise<Result> => ({ [member]: await read(caller) }),
      );
      const list = demandDone(outcome);
      return caller.isModern ? { ...list, ttlMs: 0, cacheScope: 'private' } : list;
    };
  }

  async function toolsFor({ agent }: Caller): Promise<Tool[]> {
    const [tools, isDenied] = await Promise.all([catalog.tools(), denied?.ofAgent(agent)]);
    return tools
      .filter(({ name, state }) => state === 'approved' && isDenied?.(name) !== true)
      .map(({ name, tool }) => ({ ...tool, name }));
  }

  async function callTool(request: JSONRPCRequest, caller: Caller, ctx: ServerContext): Promise<Result> {
    const params = paramsOf(request);
    const name = textOf(params, 'name');
    const input = argumentsOf(params);
    const tool = await catalog.tool(name);
    if (tool === undefined) throw gatewayError('invalidParams', `there is no tool "${name}"`);
    const headers = ctx.http?.req?.headers;
    const differing =
      caller.isModern && headers !== undefined ? differingHeader(tool.tool, input, headers) : undefined;
    if (differing !== undefined)
      throw Object.assign(new Error(`the header ${differing} is not what the argument is`), {
        code: -32_020,
      });
    if (tool.state !== 'approved') {
      const what = tool.state === 'new' ? 'is new' : 'has another description or schema than before';
      return refusal(
        `Tool "${name}" was not called: it ${what}, and an operator must approve it first. Do not repeat the call.`,
        [],
      );
    }
    const call: Call = {
      ...{ caller, ctx, request, params, input, tool },
      upstream: tool.upstream,
      type: STEP_TYPES.tools,
      step: name,
      stages: config.checks.tools,
      sent: (changed) => ({ name: tool.tool.name, arguments: changed }),
    };
    const outcome = await decided(call);
    if (outcome.kind === 'done') return outcome.result;
    return outcome.kind === 'refused' ? refusal(outcome.text, outcome.controls) : refusal(outcome.text, []);
  }

  async function readResource(request: JSONRPCRequest, caller: Caller, ctx: ServerContext): Promise<Result> {
    const params = paramsOf(request);
    const uri = textOf(params, 'uri');
    const { upstream } = await catalog.resource(uri);
    const outcome = await decided({
      ...{ caller, ctx, request, params, upstream },
      type: STEP_TYPES.resources,
      step: 'resources/read',
      input: { uri },
      stages: config.checks.resources,
      // A changed address must be one of the same server: only the address is sent, and never to another one.
      sent: ({ uri: changed }) => ({ uri: changed }),
    });
    return demandDone(outcome);
  }

  async function getPrompt(request: JSONRPCRequest, caller: Caller, ctx: ServerContext): Promise<Result> {
    const params = paramsOf(request);
    const step = textOf(params, 'name');
    const { upstream, name } = catalog.prompt(step);
    const outcome = await decided({
      ...{ caller, ctx, request, params, upstream, step },
      type: STEP_TYPES.prompts,
      input: argumentsOf(params),
      stages: config.checks.prompts,
      sent: (changed) => ({ name, arguments: changed }),
    });
    return demandDone(outcome);
  }

  async function complete(request: JSONRPCRequest, caller: Caller, ctx: ServerContext): Promise<Result> {
    const params = paramsOf(request);
    const ref = (params.ref ?? {}) as { readonly name?: unknown; readonly uri?: unknown };
    const isPrompt = typeof ref.name === 'string';
    const { name, uri } = { name: String(ref.name), uri: String(ref.uri ?? '') };
    const { upstream, name: own } = isPrompt ? catalog.prompt(name) : await catalog.resource(uri);
    const { argument, context } = params;
    const outcome = await decided({
      ...{ caller, ctx, request, params, upstream },
      type: STEP_TYPES.completions,
      step: request.method,
      input: { ref: isPrompt ? { name } : { uri }, argument, ...(context === undefined ? {} : { context }) },
      stages: config.checks.completions,
      sent: (changed) => ({
        ...changed,
        ref: isPrompt ? { type: 'ref/prompt', name: own } : { type: 'ref/resource', uri: own },
      }),
    });
    return demandDone(outcome);
  }

  /** Decides about a call, and runs it. Its result may also be that the caller has to repeat it. */
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
          ...{ caller, stepId },
          ...{
            upstream: call.upstream.name,
            type: call.type,
            name: call.step,
            input: call.input,
            stages: call.stages,
          },
          signal: ctx.mcpReq.signal,
          waitMs: waitMsOf(caller, state),
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
        throw gatewayError(
          'upstreamFailed',
          `the server "${call.upstream.name}" asks for what the client cannot give`,
        );
      return { kind: 'done', result: await relayedInput(outcome.result, stepId, binding) };
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
        ...{ caller, signal, upstream: upstream.name, type: STEP_TYPES.answers, name: step },
        ...{ input: inputResponses, stages: stages === 'both' || stages === 'pre' ? 'pre' : 'none' },
        ...{ stepId: checks.newStepId(), waitMs: 0, onWait() {} },
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

  /** How long a call waits for an approval before it is answered. */
  function waitMsOf({ isModern }: Caller, state: CallState | undefined): number {
    const { mode, earlier_versions, wait_seconds, retry_hold_seconds } = config.approvals;
    const way = isModern ? mode : earlier_versions;
    if (way === 'wait') return wait_seconds * 1_000;
    return way === 'input_required' && state?.kind === 'approval' ? retry_hold_seconds * 1_000 : 0;
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

  /** What the upstream asks the client for; its state is inside of one of the gateway. */
  async function relayedInput(
    asked: InputRequiredResult,
    stepId: string,
    binding: StateBinding,
  ): Promise<Result> {
    const requestState = await states.seal({ kind: 'upstream', state: asked.requestState, stepId }, binding);
    return { ...asked, requestState };
  }

  /** Sends a request to an upstream, with progress, log and cancellation. Of `_meta` it gets the position in a trace alone. */
  async function forward(
    { request, caller, ctx, tool, upstream, step }: Call,
    params: Record<string, unknown>,
  ): Promise<Result> {
    const meta: Record<string, unknown> = {};
    if (caller.traceparent !== undefined) meta[TRACEPARENT_META_KEY] = caller.traceparent;
    const { logging } = await upstream.capabilities();
    // Clients of 2026-07-28 say for each request whether they want it.
    const wantsLog = logging !== undefined && (!caller.isModern || caller.logLevel !== undefined);
    if (upstream.isModern()) {
      // The upstream may ask the client for what it is able to do, and for nothing else.
      meta[CLIENT_CAPABILITIES_META_KEY] = caller.capabilities;
      if (caller.logLevel !== undefined) meta[LOG_LEVEL_META_KEY] = caller.logLevel;
    }
    const { signal, _meta } = ctx.mcpReq;
    const notes = createNotes(ctx, async (said) => {
      const outcome = await checks.decide(
        {
          ...{ caller, signal, upstream: upstream.name, type: STEP_TYPES.messages, name: step, input: {} },
          ...{ stages: config.checks.messages, stepId: checks.newStepId(), waitMs: 0, onWait() {} },
        },
        async () => said,
      );
      return outcome.kind === 'done' ? outcome.result : undefined;
    });
    try {
      return await upstream.request({
        method: request.method,
        params: { ...params, _meta: meta },
        signal,
        onProgress: _meta?.progressToken === undefined ? undefined : notes.progress,
        onLog: wantsLog ? notes.log : undefined,
        tool: tool?.tool,
      });
    } finally {
      await notes.passed();
    }
  }

  const METHODS: { readonly [method: string]: Relay } = {
    'tools/list': listOf('tools', toolsFor),
    'tools/call': callTool,
    'resources/list': listOf('resources', catalog.resources),
    'resources/templates/list': listOf('resourceTemplates', catalog.resourceTemplates),
    'resources/read': readResource,
    'prompts/list': listOf('prompts', catalog.prompts),
    'prompts/get': getPrompt,
    'completion/complete': complete,
  };

  return async (request, caller, ctx) => {
    const method = Object.hasOwn(METHODS, request.method) ? METHODS[request.method] : undefined;
    if (method === undefined)
      throw gatewayError('methodNotFound', `the gateway does not pass on ${request.method}`);
    if (running >= config.listen.max_calls)
      throw gatewayError('busy', `the gateway works on ${running} calls; repeat the call later`);
    running += 1;
    try {
      return await method(request, caller, ctx);
    } finally {
      running -= 1;
    }
  };
}

/** What a model gets of a tool that did not run, or whose result is withheld. */
function refusal(text: string, controls: readonly string[]): Result {
  return {
    content: [{ type: 'text', text }],
    isError: true,
    _meta: { 'control-enforcement/refused': { controls } },
  };
}

function demandDone(outcome: Outcome<Result>): Result {
  if (outcome.kind === 'done') return outcome.result;
  throw gatewayError(
    'denied',
    outcome.text,
    outcome.kind === 'ask' ? { approval: outcome.approval.id } : { controls: outcome.controls },
  );
}

function paramsOf({ params }: JSONRPCRequest): Record<string, unknown> {
  return (params ?? {}) as Record<string, unknown>;
}

function textOf(params: Readonly<Record<string, unknown>>, member: string): string {
  const value = params[member];
  if (typeof value === 'string') return value;
  throw gatewayError('invalidParams', `${member} must be a text`);
}

function argumentsOf({ arguments: given }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (given === undefined) return {};
  if (typeof given === 'object' && given !== null && !Array.isArray(given))
    return given as Record<string, unknown>;
  throw gatewayError('invalidParams', 'arguments must be an object');
}

/** Whether a person has refused what the gateway asked the client for. */
function isDeclined({ mcpReq: { inputResponses } }: ServerContext): boolean {
  const answer = inputResponses?.approval as { readonly action?: unknown } | undefined;
  return answer?.action === 'decline';
}
