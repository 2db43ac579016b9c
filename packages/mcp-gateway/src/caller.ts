import type { AuthInfo, Server, ServerContext } from '@modelcontextprotocol/server';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  TRACEPARENT_META_KEY,
} from '@modelcontextprotocol/server';
import type { GatewayConfig } from './config.js';
import { GatewayError } from './errors.js';

/** Who calls, as `mapping` finds it. */
export interface Caller {
  readonly agent: string;
  /** Who states and sessions belong to: an authenticated name, or the empty text for all callers without one. */
  readonly principal: string;
  readonly sessionId: string | undefined;
  readonly traceparent: string | undefined;
  /** Name and version that the client gives itself. */
  readonly client: { readonly name: string; readonly version: string } | undefined;
  readonly isModern: boolean;
  /** What a server may ask the client for; empty before version 2026-07-28, where the gateway asks clients for nothing. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly logLevel: unknown;
}

/** What is known of the connection of a caller. */
export interface ConnectionFacts {
  /** Whether it uses version 2026-07-28. */
  readonly isModern: boolean;
  /** The session of a connection that has one. */
  readonly sessionId: string | undefined;
}

/** The longest id of a session that the service takes. */
const MAX_SESSION_ID = 255;
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The caller of a request. Throws if no agent is found. */
export function callerOf(
  mapping: GatewayConfig['mapping'],
  server: Pick<Server, 'getClientVersion'>,
  ctx: ServerContext,
  { isModern, sessionId: ownSession }: ConnectionFacts,
): Caller {
  const { _meta: meta } = ctx.mcpReq;
  const envelope: Readonly<Record<string, unknown>> = ctx.mcpReq.envelope ?? {};
  const headers = ctx.http?.req?.headers;
  const given = (envelope[CLIENT_INFO_META_KEY] ?? server.getClientVersion()) as
    | { readonly name?: unknown; readonly version?: unknown }
    | undefined;
  const client =
    typeof given?.name === 'string' ? { name: given.name, version: String(given.version ?? '') } : undefined;
  const traceparent = meta?.[TRACEPARENT_META_KEY] ?? headers?.get('traceparent');
  return {
    agent: agentOf(mapping.agent, headers, ctx.http?.authInfo, client?.name),
    principal: principalOf(mapping, headers, ctx.http?.authInfo),
    sessionId: sessionOf(mapping.session, headers, meta) ?? ownSession ?? ctx.sessionId,
    // A wrong position in a trace is no reason to refuse a call.
    traceparent: typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : undefined,
    client,
    isModern,
    capabilities: askableOf(envelope[CLIENT_CAPABILITIES_META_KEY]),
    logLevel: envelope[LOG_LEVEL_META_KEY],
  };
}

/** What servers may ask clients for, with its ways (MCP 2026-07-28, client/elicitation, client/sampling, client/roots). */
const ASKABLE = { elicitation: ['form', 'url'], sampling: ['context', 'tools'], roots: [] } as const;

/** Those of the capabilities that a client tells; anything else in them would reach a server unchecked. */
function askableOf(told: unknown): Caller['capabilities'] {
  const known = Object.entries(ASKABLE).flatMap(([name, ways]) => {
    const given = memberOf(told, name);
    if (given === undefined) return [];
    const able = ways.filter((way) => memberOf(given, way) !== undefined);
    return [[name, Object.fromEntries(able.map((way) => [way, {}]))]];
  });
  return Object.fromEntries(known);
}

function memberOf(value: unknown, name: string): object | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  const member: unknown = Reflect.get(value, name);
  return typeof member === 'object' && member !== null ? member : undefined;
}

/** The authenticated name of a caller. */
export function principalOf(
  { principal }: GatewayConfig['mapping'],
  headers: Headers | undefined,
  auth: AuthInfo | undefined,
): string {
  if (principal !== undefined) return `header:${headers?.get(principal.header) ?? ''}`;
  return auth === undefined ? '' : `token:${String(auth.extra?.sub ?? auth.clientId)}`;
}

function agentOf(
  { fixed, header, claim, names, otherwise }: GatewayConfig['mapping']['agent'],
  headers: Headers | undefined,
  auth: AuthInfo | undefined,
  clientName: string | undefined,
): string {
  if (fixed !== undefined) return fixed;
  const value =
    header !== undefined ? headers?.get(header) : claim !== undefined ? auth?.extra?.[claim] : clientName;
  const text = typeof value === 'string' && value !== '' ? value : undefined;
  const named =
    text === undefined || names === undefined ? text : Object.hasOwn(names, text) ? names[text] : undefined;
  const agent = named ?? otherwise;
  if (agent !== undefined) return agent;
  const where =
    header !== undefined
      ? `the header ${header}`
      : claim !== undefined
        ? `the claim ${claim}`
        : 'the name of the client';
  throw new GatewayError(
    'noAgent',
    `the call is of no known agent: ${where} is missing or is not listed in mapping.agent.names`,
  );
}

function sessionOf(
  session: GatewayConfig['mapping']['session'],
  headers: Headers | undefined,
  meta: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  if (session === undefined) return undefined;
  const value = session.header !== undefined ? headers?.get(session.header) : meta?.[session.meta ?? ''];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string' && value.length <= MAX_SESSION_ID) return value;
  throw new GatewayError(
    'invalidParams',
    `the id of the session must be a text of at most ${MAX_SESSION_ID} characters`,
  );
}
