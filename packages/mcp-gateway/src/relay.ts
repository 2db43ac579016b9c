import type { Progress } from '@modelcontextprotocol/client';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  isInputRequiredResult,
  type JSONRPCRequest,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Approval, Client } from '../../client/src/index.js';
import type { CallState, CallStates, StateBinding } from './approval-states.js';
import type { Caller } from './caller.js';
import type { Catalog, KnownTool } from './catalog.js';
import { type Checks, type Outcome, STEP_TYPES } from './checks.js';
import type { CheckedStages, GatewayConfig } from './config.js';
import type { DeniedTools } from './denied-tools.js';
import { gatewayError } from './errors.js';
import { differingHeader } from './param-headers.js';
import type { Upstream } from './upstream.js';

/** Between two notes of progress of a call that waits for an approval. */
const WAIT_NOTE_MS = 5_000;
/** Members of `_meta` that concern the connection of the caller only. */
const OWN_META = new Set(['progressToken']);

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
  readonly type: (typeof STEP_TYPES)[keyof typeof STEP_TYPES];
  /** The name of the step. */
  readonly step: string;
  readonly input: Record<string, unknown>;
  readonly stages: CheckedStages;
  /** The parameters for the upstream with the input that may run. */
  readonly sent: (input: Record<string, unknown>) => Record<string, unknown>;
  readonly tool?: KnownTool;
}

export function createRelay({ config, catalog, checks, states, denied, approvals }: RelayOptions): Relay {
  let running = 0;

  /** `cacheScope: private`, because lists differ between callers. Versions before 2026-07-28 do not have these members. */
  const listOf = (member: string, items: readonly unknown[], { isModern }: Caller): Result =>
    isModern ? { [member]: items, ttlMs: 0, cacheScope: 'private' } : { [member]: items };

  async function listTools(caller: Caller): Promise<Result> {
    const [tools, isDenied] = await Promise.all([catalog.tools(), denied?.ofAgent(caller.agent)]);
    const shown = tools.filter(({ name, state }) => state === 'approved' && isDenied?.(name) !== true);
    return listOf(
      'tools',
      shown.map(({ name, tool }) => ({ ...tool, name })),
      caller,
    );
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
      sent: (changed) => ({ ...params, name: tool.tool.name, arguments: changed }),
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
      sent: (changed) => ({ ...params, ...changed }),
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
      sent: (changed) => ({ ...params, name, arguments: changed }),
    });
    return demandDone(outcome);
  }

  async function complete(request: JSONRPCRequest, caller: Caller, ctx: ServerContext): Promise<Result> {
    const params = paramsOf(request);
    const ref = params.ref as
      | { readonly type?: unknown; readonly name?: unknown; readonly uri?: unknown }
      | undefined;
    if (typeof ref?.name === 'string') {
      const { upstream, name } = catalog.prompt(ref.name);
      return forward(upstream, { ...params, ref: { ...ref, name } }, { request, caller, ctx });
    }
    const { upstream } = await catalog.resource(typeof ref?.uri === 'string' ? ref.uri : '');
    return forward(upstream, params, { request, caller, ctx });
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
          const inputs = state?.kind === 'upstream' ? upstreamInputs(ctx, state.state) : {};
          return forward(call.upstream, { ...call.sent(input), ...inputs }, call);
        },
      );
      if (outcome.kind === 'ask' && caller.isModern && config.approvals.mode === 'input_required')
        return { kind: 'done', result: await askAgain(outcome.approval, caller, binding, outcome.text) };
      if (outcome.kind !== 'done' || !isInputRequiredResult(outcome.result)) return outcome;
      return { kind: 'done', result: await relayedInput(outcome.result, stepId, binding) };
    } finally {
      note.end();
    }
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

  /** Sends a request to an upstream as it is, with progress, log and cancellation. */
  async function forward(
    upstream: Upstream,
    params: Record<string, unknown>,
    { request, caller, ctx, tool }: Pick<Call, 'request' | 'caller' | 'ctx' | 'tool'>,
  ): Promise<Result> {
    const given = paramsOf(request)._meta as Record<string, unknown> | undefined;
    const meta = Object.fromEntries(Object.entries(given ?? {}).filter(([name]) => !OWN_META.has(name)));
    const { logging } = await upstream.capabilities();
    // Clients of 2026-07-28 say for each request whether they want it.
    const wantsLog = logging !== undefined && (!caller.isModern || caller.logLevel !== undefined);
    if (upstream.isModern()) {
      // The upstream may ask the client for what it is able to do, and for nothing else.
      meta[CLIENT_CAPABILITIES_META_KEY] = caller.capabilities;
      if (caller.logLevel !== undefined) meta[LOG_LEVEL_META_KEY] = caller.logLevel;
    }
    const progressToken = given?.progressToken as string | number | undefined;
    return upstream.request({
      method: request.method,
      params: { ...params, _meta: meta },
      signal: ctx.mcpReq.signal,
      onProgress: progressToken === undefined ? undefined : progressOf(ctx, progressToken),
      onLog: wantsLog ? logOf(ctx) : undefined,
      tool: tool?.tool,
    });
  }

  const METHODS: { readonly [method: string]: Relay } = {
    'tools/list': (_request, caller) => listTools(caller),
    'tools/call': callTool,
    'resources/list': async (_request, caller) => listOf('resources', await catalog.resources(), caller),
    'resources/templates/list': async (_request, caller) =>
      listOf('resourceTemplates', await catalog.resourceTemplates(), caller),
    'resources/read': readResource,
    'prompts/list': async (_request, caller) => listOf('prompts', await catalog.prompts(), caller),
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

function upstreamInputs({ mcpReq: { inputResponses } }: ServerContext, state: string | undefined): object {
  return {
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(state === undefined ? {} : { requestState: state }),
  };
}

function progressOf(ctx: ServerContext, progressToken: string | number): (progress: Progress) => void {
  return (progress) => {
    const params = { ...progress, progressToken };
    // A caller that has gone is told by the signal of its call.
    ctx.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}

function logOf(ctx: ServerContext): (params: Record<string, unknown>) => void {
  return ({ level, data, logger }) =>
    void ctx.mcpReq.log(level as LoggingLevel, data, logger as string | undefined).catch(() => {});
}

/** Notes of progress while a call waits for a person, if the caller wants progress: they keep its time limit from ending. */
function createWaitNote(ctx: ServerContext): { begin(approval: Approval): void; end(): void } {
  const token = ctx.mcpReq._meta?.progressToken;
  let timer: ReturnType<typeof setInterval> | undefined;
  const end = (): void => clearInterval(timer);
  return {
    end,
    begin({ id }) {
      if (token === undefined) return;
      end();
      const began = performance.now();
      // Progress of the upstream begins at any number: numbers below 1 come before it.
      const tell = (): void => {
        const waited = (performance.now() - began) / 1_000;
        progressOf(
          ctx,
          token,
        )({
          progress: waited / (waited + 3_600),
          message: `waits for a person to approve it (approval ${id})`,
        });
      };
      tell();
      timer = setInterval(tell, WAIT_NOTE_MS);
    },
  };
}
