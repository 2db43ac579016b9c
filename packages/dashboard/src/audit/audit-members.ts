import { createClient } from '@connectrpc/connect';
import { AuditService } from '@gen/enforcement/v1/audit_service_pb.js';
import { transport } from '../data/transport.js';
import type { QueryMember } from '../ui/query-bar/query-member.js';

const client = createClient(AuditService, transport);
/** Entries of which actors are suggested. */
const LATEST = 100;
const RESOURCES = [
  'agent',
  'control',
  'policy',
  'control_binding',
  'pack',
  'key',
  'namespace',
  'halt',
  'database',
];
const ACTIONS = [
  ...['create', 'update', 'delete', 'add_control', 'remove_control', 'add_policy', 'remove_policy'].map(
    (verb) => `agent.${verb}`,
  ),
  ...['agent.set_policy', 'agent.remove_policies'],
  ...['create', 'set_data', 'update', 'restore_version', 'delete'].map((verb) => `control.${verb}`),
  ...[
    'create',
    'rename',
    'update',
    'delete',
    'add_control',
    'remove_control',
    'add_agents',
    'remove_agents',
  ].map((verb) => `policy.${verb}`),
  ...['create', 'update', 'delete'].map((verb) => `control_binding.${verb}`),
  ...['install', 'update', 'uninstall'].map((verb) => `pack.${verb}`),
  ...['create', 'rotate', 'revoke'].map((verb) => `key.${verb}`),
  ...['create', 'update', 'delete'].map((verb) => `namespace.${verb}`),
  ...['advance_revision', 'prune_audit', 'prune_events', 'rebuild_statistics'].map(
    (verb) => `database.${verb}`,
  ),
];

const revision = (name: string, hint: string): QueryMember => ({
  name,
  hint,
  read: (typed) =>
    /^\d{1,15}$/.test(typed)
      ? { value: typed }
      : { problem: `“${typed}” is no revision: it is a number, 0 or more.` },
});

/** Everything that the audit log can be filtered by. */
export const AUDIT_MEMBERS: readonly QueryMember[] = [
  {
    name: 'actor',
    hint: 'who made the change: a part of the name, the kind or the key',
    isSearched: true,
    suggest: async (part, _terms, signal) => {
      const { entries } = await client.listAuditEntries(
        { limit: LATEST, ...(part === '' ? {} : { actorContains: part }) },
        { signal },
      );
      const names = new Set(entries.map(({ actor }) => actor?.name ?? actor?.kind ?? ''));
      const typed = part.toLowerCase();
      return [...names]
        .filter((name) => name !== '' && name.toLowerCase().includes(typed))
        .sort()
        .map((value) => ({ value }));
    },
  },
  {
    name: 'action',
    hint: 'what was done, or a part of it, for example add_agents',
    isSearched: true,
    suggest: async (part) =>
      ACTIONS.filter((action) => action.includes(part.toLowerCase())).map((value) => ({ value })),
  },
  { name: 'name', hint: 'a part of the name of what was changed, or of its id' },
  { name: 'resource', hint: 'kind of what was changed', values: RESOURCES.map((value) => ({ value })) },
  { name: 'id', hint: 'name of the agent, or id of the control or policy' },
  { name: 'request', hint: 'id of the request' },
  revision('min_revision', 'changes with this revision or a later one'),
  revision('max_revision', 'changes with this revision or an earlier one'),
];
