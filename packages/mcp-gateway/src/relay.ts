import type { Tool } from '@modelcontextprotocol/client';
import type { JSONRPCRequest, Result, ServerContext } from '@modelcontextprotocol/server';
import type { Caller } from './caller.js';
import type { Catalog, KnownTool } from './catalog.js';
import { type Checks, type Outcome, STEP_TYPES } from './checks.js';
import type { GatewayConfig } from './config.js';
import type { DecidedCalls } from './decided-calls.js';
import type { DeniedTools } from './denied-tools.js';
import { GatewayError } from './errors.js';
import type { Call } from './forward.js';
import { differingHeader } from './param-headers.js';

export interface RelayOptions {
  readonly config: GatewayConfig;
  readonly catalog: Catalog;
  readonly checks: Checks;
  readonly decided: DecidedCalls;
  /** Undefined if no tool is hidden for what controls say. */
  readonly denied: DeniedTools | undefined;
}

/** Answers one request of a caller. */
export type Relay = (request: JSONRPCRequest, caller: Caller, ctx: ServerContext) => Promise<Result>;

export function createRelay({ config, catalog, checks, denied, decided }: RelayOptions): Relay {
  let running = 0;

  /** `cacheScope: private`, because lists differ between callers. Versions before 2026-07-28 do not have these members. */
  function listOf(member: string, read: (caller: Caller) => Promise<readonly unknown[]>): Relay {
    return async ({ method }, caller, { mcpReq: { signal } }) => {
      const outcome = await checks.decide(
        {
          ...{ caller, signal, upstream: undefined, type: STEP_TYPES.lists, name: method, input: {} },
          stages: config.checks.lists,
        },
        async (): Promise<Result> => ({ [member]: await read(caller) }),
      );
      const list = demandDone(outcome);
      return caller.isModern ? { ...list, ttlMs: 0, cacheScope: 'private' } : list;
    };
  }

  async function callTool(request: JSONRPCRequest, caller: Caller, ctx: ServerContext): Promise<Result> {
    const params = paramsOf(request);
    const name = textOf(params, 'name');
    const input = argumentsOf(params);
    const tool = await catalog.tool(name);
    if (tool === undefined) throw new GatewayError('invalidParams', `there is no tool "${name}"`);
    demandSameHeaders(tool, input, caller, ctx);
    if (tool.state !== 'approved') return unapproved(tool);
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

  const METHODS: { readonly [method: string]: Relay } = {
    'tools/list': listOf('tools', (caller) => toolsFor(caller, catalog, denied)),
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
      throw new GatewayError('methodNotFound', `the gateway does not pass on ${request.method}`);
    if (running >= config.listen.max_calls)
      throw new GatewayError('busy', `the gateway works on ${running} calls; repeat the call later`);
    running += 1;
    try {
      return await method(request, caller, ctx);
    } finally {
      running -= 1;
    }
  };
}

async function toolsFor(
  { agent }: Caller,
  catalog: Catalog,
  denied: DeniedTools | undefined,
): Promise<Tool[]> {
  const [tools, isDenied] = await Promise.all([catalog.tools(), denied?.ofAgent(agent)]);
  return tools
    .filter(({ name, state }) => state === 'approved' && isDenied?.(name) !== true)
    .map(({ name, tool }) => ({ ...tool, name }));
}

/** Throws if a header that repeats an argument differs from it. */
function demandSameHeaders(
  { tool }: KnownTool,
  input: Record<string, unknown>,
  caller: Caller,
  ctx: ServerContext,
): void {
  const headers = ctx.http?.req?.headers;
  const differing =
    caller.isModern && headers !== undefined ? differingHeader(tool, input, headers) : undefined;
  if (differing !== undefined)
    throw Object.assign(new Error(`the header ${differing} is not what the argument is`), {
      code: -32_020,
    });
}

/** What a model gets of a tool that waits for an operator. */
function unapproved({ name, state }: KnownTool): Result {
  const what = state === 'new' ? 'is new' : 'has another description or schema than before';
  return refusal(
    `Tool "${name}" was not called: it ${what}, and an operator must approve it first. Do not repeat the call.`,
    [],
  );
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
  throw new GatewayError(
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
  throw new GatewayError('invalidParams', `${member} must be a text`);
}

function argumentsOf({ arguments: given }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (given === undefined) return {};
  if (typeof given === 'object' && given !== null && !Array.isArray(given))
    return given as Record<string, unknown>;
  throw new GatewayError('invalidParams', 'arguments must be an object');
}
