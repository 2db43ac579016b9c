import type { ApiKey } from '@gen/enforcement/v1/key_service_pb.js';
import { MinuteText } from '../ui/minute-text.js';
import { NameLink } from '../ui/name-link.js';
import { numberOf } from '../ui/numbers.js';
import type { Columns } from '../ui/table/columns.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { KEY_STATES, type KeyState, keyState } from './key-state.js';

/** The color of a state, by the class of a badge. */
const CLASSES: Readonly<Partial<Record<KeyState, string>>> = {
  valid: 'safe',
  expiring: 'steer',
  rotating: 'observe',
  expired: 'deny',
  revoked: 'deny',
};

export const KEY_COLUMNS: Columns<ApiKey> = [
  {
    head: 'Key',
    sort: { by: 'name', first: 'ascending' },
    cell: ({ id, name }) => <NameLink href={`/keys/${id}`} name={name} />,
  },
  { head: 'State', cell: (key) => <KeyStateBadge apiKey={key} /> },
  {
    head: 'Owner',
    sort: { by: 'owner', first: 'ascending' },
    cell: ({ owner }) =>
      owner === undefined ? <span className="muted">none</span> : <UserText text={owner} />,
  },
  { head: 'Role', cell: (key) => roleText(key) },
  { head: 'Agents', cell: ({ agents }) => <AgentsText agents={agents} max={40} /> },
  {
    head: 'Expires',
    sort: { by: 'expires', first: 'ascending' },
    cell: ({ expiresAt }) => <ExpiryText expiresAt={expiresAt} />,
  },
  {
    head: 'Last use',
    sort: { by: 'used', first: 'descending' },
    cell: ({ lastUsedAt }) => <LastUse time={lastUsedAt} />,
  },
  {
    head: 'Created',
    sort: { by: 'created', first: 'descending' },
    cell: ({ createdAt }) => <TimeText time={createdAt} />,
  },
  { head: 'Begins with', cell: ({ prefix }) => <code>{prefix}…</code> },
];

export function KeyStateBadge({ apiKey }: { readonly apiKey: ApiKey }) {
  const state = keyState(apiKey, Date.now());
  return <span className={`badge ${CLASSES[state] ?? ''}`}>{KEY_STATES[state]}</span>;
}

/** The role of a key, or how many scopes it lists itself. */
export function roleText({ role, scopes }: Pick<ApiKey, 'role' | 'scopes'>): string {
  return role ?? numberOf(scopes.length, 'scope');
}

interface AgentsTextProps {
  readonly agents: readonly string[];
  readonly max?: number;
}

/** The agents that a key is limited to. */
export function AgentsText({ agents, max = 400 }: AgentsTextProps) {
  if (agents.length === 0) return <span className="muted">all</span>;
  return <UserText text={agents.join(', ')} max={max} />;
}

export function ExpiryText({ expiresAt }: Pick<ApiKey, 'expiresAt'>) {
  return expiresAt === undefined ? <span className="muted">never</span> : <TimeText time={expiresAt} />;
}

/** When a key was used last: known to the minute. */
export function LastUse({ time }: { readonly time: string | undefined }) {
  return time === undefined ? <span className="muted">never</span> : <MinuteText time={time} />;
}
