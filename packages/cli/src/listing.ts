import { isObject, type JsonObject, type JsonValue } from '../../exact-json/src/index.js';
import type { CommandContext, Row } from './context.js';
import { CliError } from './errors.js';
import { plain } from './output.js';
import type { Query, Rest } from './rest.js';

/** A list of the server: its route, the member of the reply with the items, and what a table shows of each. */
export interface Listing {
  readonly path: string;
  readonly member: string;
  readonly columns: readonly string[];
}

export const LISTINGS = {
  controls: {
    path: '/api/v1/controls',
    member: 'controls',
    columns: ['id', 'name', 'enabled', 'execution', 'description'],
  },
  policies: { path: '/api/v1/policies', member: 'policies', columns: ['id', 'name', 'every_agent'] },
  agents: {
    path: '/api/v1/agents',
    member: 'agents',
    columns: ['agent_name', 'step_count', 'active_controls_count', 'created_at'],
  },
  packs: { path: '/api/v1/packs', member: 'packs', columns: ['name', 'version', 'control_count', 'title'] },
  approvals: {
    path: '/api/v1/approvals',
    member: 'approvals',
    columns: ['id', 'state', 'agent_name', 'step_name', 'asked_at', 'question'],
  },
  halts: {
    path: '/api/v1/halts',
    member: 'halts',
    columns: ['id', 'state', 'scope', 'agent_name', 'session_id', 'step_name', 'reason', 'expires_at'],
  },
  keys: {
    path: '/api/v1/keys',
    member: 'keys',
    columns: ['id', 'name', 'prefix', 'role', 'owner', 'expires_at', 'last_used_at'],
  },
} as const satisfies { readonly [what: string]: Listing };

const PAGE = 100;

/** Up to `limit` items of a list, page by page. */
export async function listed(
  rest: Rest,
  { path, member }: Listing,
  query: Query,
  limit: number,
): Promise<JsonObject[]> {
  const items: JsonObject[] = [];
  for (let cursor: string | undefined; ; ) {
    const reply = await rest.get(path, {
      ...query,
      ...(path.endsWith('/packs') ? {} : { limit: Math.min(PAGE, limit), cursor }),
    });
    items.push(...objects(reply[member]));
    const next = isObject(reply.pagination) ? reply.pagination.next_cursor : null;
    if (typeof next !== 'string' || items.length >= limit) return items.slice(0, limit);
    cursor = next;
  }
}

/** Prints items as `--output` says. */
export async function printItems(
  context: CommandContext,
  items: JsonObject[],
  columns: readonly string[],
): Promise<void> {
  await context.output(
    items,
    items.map((item) => rowOf(item, columns)),
  );
}

export function rowOf(item: JsonObject, columns: readonly string[]): Row {
  return Object.fromEntries(columns.map((name) => [name, cellOf(item[name])]));
}

export function cellOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return plain(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** The objects of a list; none if it is no list. */
export function objects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A member of a reply that is an object. */
export function objectIn(reply: JsonObject, member: string): JsonObject {
  const value = reply[member];
  if (isObject(value)) return value;
  throw new CliError(`the reply of the server has no ${member}`);
}

/** `90s`, `15m`, `2h`, `7d` → milliseconds. */
export function durationMs(text: string, option: string): number {
  const [, amount, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit];
  if (amount === undefined || unitMs === undefined) {
    throw new CliError(
      `--${option} must be a number with s, m, h or d, not ${text}`,
      'For example 90s, 15m, 2h or 7d.',
    );
  }
  return Number(amount) * unitMs;
}
