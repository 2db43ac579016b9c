import {
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCRequest,
  LOG_LEVEL_META_KEY,
  type Result,
  type ServerContext,
  TRACEPARENT_META_KEY,
} from '@modelcontextprotocol/server';
import type { Caller } from './caller.js';
import type { KnownTool } from './catalog.js';
import { type Checks, STEP_TYPES, type StepType } from './checks.js';
import type { CheckedStages, GatewayConfig } from './config.js';
import { createNotes } from './notes.js';
import type { Upstream } from './upstream.js';

/** What is asked of an upstream for a caller, before it is decided. */
export interface Call {
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

/** Sends the request of a call to its upstream, with these parameters. */
export type Forward = (call: Call, params: Record<string, unknown>) => Promise<Result>;

/** `messages` are the stages in which progress and log messages are checked. */
export function createForward(checks: Checks, messages: GatewayConfig['checks']['messages']): Forward {
  /** Sends a request to an upstream, with progress, log and cancellation. Of `_meta` it gets the position in a trace alone. */
  return async ({ request, caller, ctx, tool, upstream, step }, params) => {
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
          stages: messages,
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
  };
}
