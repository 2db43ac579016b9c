import type { MessageInitShape } from '@bufbuild/protobuf';
import type { CreateKeyRequestSchema, Role } from '@gen/enforcement/v1/key_service_pb.js';

const DAY_MS = 24 * 3_600_000;
/** The choice of a key that lists its scopes itself. */
export const OWN_SCOPES = '';

/** How long a new key is valid; `date` is a day that is chosen. */
export const LIFETIMES = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
  ['date', 'until a day'],
  ['never', 'until it is revoked'],
] as const;

/** What is written in the form of a new key. */
export interface KeyDraft {
  readonly name: string;
  readonly owner: string;
  /** `OWN_SCOPES` for the scopes below. */
  readonly role: string;
  readonly scopes: ReadonlySet<string>;
  /** Names and patterns, separated by commas, spaces or lines. */
  readonly agents: string;
  readonly lifetime: string;
  /** A day as `2026-12-31`; the key ends when it is over, in the zone of the browser. */
  readonly day: string;
  readonly namespace: string;
}

/** The draft of a key that may do least. */
export function emptyDraft(role: string, namespace: string): KeyDraft {
  return {
    name: '',
    owner: '',
    role,
    scopes: new Set(),
    agents: '',
    lifetime: '90',
    day: '',
    namespace,
  };
}

/** The agents of a text, each once. */
export function agentsOf(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((agent) => agent !== ''))];
}

/** When the key of a draft ends, RFC 3339; undefined for never. */
export function expiryOf(
  { lifetime, day }: Pick<KeyDraft, 'lifetime' | 'day'>,
  nowMs: number,
): string | undefined {
  if (lifetime === 'never') return undefined;
  if (lifetime === 'date') return new Date(`${day}T23:59:59`).toISOString();
  return new Date(nowMs + Number(lifetime) * DAY_MS).toISOString();
}

/** What is wrong with a draft; undefined if it can be sent. */
export function draftProblem(draft: KeyDraft, nowMs: number): string | undefined {
  if (draft.name.trim() === '') return 'The key needs a name.';
  if (draft.role === OWN_SCOPES && draft.scopes.size === 0) return 'Choose at least one scope.';
  if (draft.lifetime !== 'date') return undefined;
  const endsAt = Date.parse(`${draft.day}T23:59:59`);
  if (Number.isNaN(endsAt)) return 'Choose the last day of the key.';
  return endsAt <= nowMs ? 'The last day of the key is over already.' : undefined;
}

/** The request for the key of a draft without problems. */
export function requestOf(
  draft: KeyDraft,
  ownNamespace: string,
  nowMs: number,
): MessageInitShape<typeof CreateKeyRequestSchema> {
  const owner = draft.owner.trim();
  const expiresAt = expiryOf(draft, nowMs);
  const namespace = draft.namespace.trim();
  return {
    name: draft.name.trim(),
    ...(draft.role === OWN_SCOPES ? { scopes: [...draft.scopes] } : { role: draft.role }),
    agents: agentsOf(draft.agents),
    ...(owner === '' ? {} : { owner }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(namespace === '' || namespace === ownNamespace ? {} : { namespace }),
  };
}

/** Whether a caller can give a role: a key never has more than who makes it. */
export function canGive({ scopes }: Pick<Role, 'scopes'>, own: ReadonlySet<string> | 'all'): boolean {
  return own === 'all' || scopes.every((scope) => own.has(scope));
}
