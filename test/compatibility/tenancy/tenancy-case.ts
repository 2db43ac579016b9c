import { z } from 'zod';
import type { RestReply } from '../../support/http.js';

/** Whose credentials a call has. `token` is a runtime token for PAIR; `reader` a key that is no admin key. */
export type Caller = 'admin' | 'reader' | 'agent' | 'token' | 'nobody';

/** What is there when a case is tried, and how it makes what it needs for itself. */
export interface TenancyWorld {
  readonly agent: string;
  /** A control that is linked to the agent, and denies the word `linked`. */
  readonly linked: number;
  /** A control that is bound to PAIR, and denies the word `bound`. */
  readonly bound: number;
  /** The binding of `bound`. */
  readonly binding: number;
  /** A control that is bound to nothing. */
  readonly free: number;
  /** A control with an evaluator that the agent registered. */
  readonly agentScoped: number;
  /** Calls as a caller; rejects unless it is served. Returns the body. */
  // biome-ignore lint/suspicious/noExplicitAny: cases look into replies of every shape
  served(...request: Parameters<Send>): Promise<any>;
  /** A target that no other case has. */
  target(): Target;
  /** Text that differs in each call, for names. */
  name(): string;
}

export type Send = (caller: Caller, method: string, path: string, body?: unknown) => Promise<RestReply>;

export interface Target {
  readonly target_type: string;
  readonly target_id: string;
}

/** A call of the page, and what is answered. */
export interface TenancyCase {
  /** The call as the page names it; a deviation of this service is named with its reason. */
  readonly title: string;
  readonly by?: Caller;
  readonly call: Call | ((world: TenancyWorld) => Call | Promise<Call>);
  readonly status: number;
  /** Of a refused call. */
  readonly code?: string;
  /** `field code` of each item of a refused call; undefined for a body without items. */
  readonly items?: readonly string[];
  /** Members of a reply with their types; a member that the page does not name makes it fail. */
  readonly reply?: z.ZodType;
  /** Further parts of the reply. */
  readonly equal?: (world: TenancyWorld, call: Call) => object;
  /** Header of the reply by its name; null for none. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

export type Call = readonly [method: string, path: string, body?: unknown];

export const AGENT = 'tenancy-agent-1';
export const PAIR: Target = { target_type: 'log_stream', target_id: 'checkout' };
export const MISSING = 999_999;
export const BINDINGS = '/api/v1/control-bindings';
export const BY_KEY = `${BINDINGS}/by-key`;
export const EXCHANGE = '/api/v1/auth/runtime-token-exchange';

const id = z.int().positive();
const time = z.iso.datetime({ offset: true });
const success = z.literal(true);
const pagination = z.strictObject({
  limit: z.int(),
  total: z.int().nonnegative(),
  next_cursor: z.string().min(1).nullable(),
  has_more: z.boolean(),
});
const binding = z.strictObject({
  id,
  namespace_key: z.literal('default'),
  target_type: z.string(),
  target_id: z.string(),
  control_id: id,
  enabled: z.boolean(),
  created_at: time,
  updated_at: time,
});
const definition = z.record(z.string(), z.unknown());

/** Replies, member by member as the page lists them. */
export const SHAPES = {
  bindingId: z.strictObject({ binding_id: id }),
  binding,
  bindings: z.strictObject({ bindings: z.array(binding), pagination }),
  upserted: z.strictObject({ binding_id: id, created: z.boolean(), enabled: z.boolean() }),
  enabled: z.strictObject({ success, enabled: z.boolean() }),
  success: z.strictObject({ success }),
  /** The service adds warnings about the definition. */
  validated: z.object({ success }),
  deleted: z.strictObject({ deleted: z.boolean() }),
  cloned: z.strictObject({ id, name: z.string(), cloned_from_control_id: id, binding_id: id }),
  token: z.strictObject({
    token: z.string().regex(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    expires_at: time,
    target_type: z.string(),
    target_id: z.string(),
    scopes: z.array(z.literal('runtime.use')).length(1),
  }),
  agentControls: z.object({
    controls: z.array(z.object({ id, name: z.string(), control: definition })),
  }),
  deletedControl: z.object({
    success,
    dissociated_from: z.array(id),
    dissociated_from_policies: z.array(id),
    dissociated_from_agents: z.array(z.string()),
    detached_target_bindings: z.array(id),
  }),
  controls: z.object({
    controls: z.array(
      z.object({
        id,
        name: z.string(),
        cloned_from_control_id: id.nullable(),
        description: z.string().nullable(),
        enabled: z.boolean(),
        execution: z.string().nullable(),
        action: z.object({ decision: z.enum(['deny', 'steer', 'observe']) }).nullable(),
        step_types: z.array(z.string()).nullable(),
        stages: z.array(z.string()).nullable(),
        tags: z.array(z.string()),
        template_backed: z.boolean(),
        template_rendered: z.boolean().nullable(),
        used_by_agent: z.object({ agent_name: z.string() }).nullable(),
        used_by_agents_count: z.int().nonnegative(),
      }),
    ),
    pagination,
  }),
  attached: z.object({
    controls: z.array(
      z.object({
        attachments: z.strictObject({
          agents: z.array(z.object({ agent_name: z.string() })),
          policies: z.array(z.object({ id, name: z.string() })),
          targets: z.array(
            z.strictObject({
              binding_id: id,
              target_type: z.string(),
              target_id: z.string(),
              enabled: z.boolean(),
            }),
          ),
          targets_total: z.int().nonnegative(),
          targets_truncated: z.boolean(),
        }),
      }),
    ),
  }),
  control: z.object({
    id,
    name: z.string(),
    cloned_from_control_id: id.nullable(),
    data: definition.nullable(),
  }),
  version: z.object({
    version_num: id,
    event_type: z.string(),
    note: z.string().nullable(),
    created_at: z.string(),
    snapshot: z.object({ name: z.string(), cloned_from_control_id: id.nullable() }),
  }),
} as const;
