import { useQuery } from '@connectrpc/connect-query';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { ObservabilityService, TotalKind } from '@gen/enforcement/v1/observability_service_pb.js';
import { PackService } from '@gen/enforcement/v1/pack_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { packAddress } from '../packs/pack-address.js';
import { agentAddress } from '../references/columns.js';
import { useIsLimited, useMay } from '../session/session-context.js';
import { matchesWords, type PaletteGroup } from './palette-items.js';

const MAX_FOUND = 6;
/** Shorter texts are no trace ids. */
const MIN_TRACE_ID = 4;
const PACKS_STALE_MS = 60_000;

/** What the server finds for a text, and whether it is still searching. */
export interface PaletteSearch {
  readonly groups: readonly PaletteGroup[];
  readonly isSearching: boolean;
  readonly error: unknown;
}

/** Searches agents, controls, policies and packs by a part of their names, controls by number and traces by id. */
export function usePaletteSearch(text: string): PaletteSearch {
  const isLimited = useIsLimited();
  const seesControls = useMay('controls.read') && !isLimited;
  const seesAgents = useMay('agents.read') && !isLimited;
  const seesPolicies = useMay('policies.read') && !isLimited;
  const seesEvents = useMay('events.read') && !isLimited;
  const searched = (sees: boolean) => ({ enabled: text !== '' && sees, placeholderData: keepPreviousData });
  const page = { name: text, limit: MAX_FOUND };
  const controls = useQuery(ControlService.method.listControls, page, searched(seesControls));
  const agents = useQuery(AgentService.method.listAgents, page, searched(seesAgents));
  const policies = useQuery(PolicyService.method.listPolicies, page, searched(seesPolicies));
  // They are few, and the server finds none by a part of its name.
  const packs = useQuery(
    PackService.method.listPacks,
    {},
    { enabled: text !== '' && seesControls && seesPolicies, staleTime: PACKS_STALE_MS, retry: false },
  );
  const traces = useQuery(
    ObservabilityService.method.queryEvents,
    { traceId: text, limit: 1, includeBuffered: true, total: TotalKind.NONE },
    { enabled: text.length >= MIN_TRACE_ID && seesEvents },
  );
  const controlId = /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  const control = useQuery(
    ControlService.method.getControl,
    { controlId: controlId ?? 0 },
    { enabled: controlId !== undefined && seesControls, retry: false },
  );
  const searches = [controls, agents, policies, traces];
  const isSearching = [...searches, control].some(({ isFetching }) => isFetching);
  const error = searches.find((search) => search.error !== null)?.error;
  if (text === '') return { groups: [], isSearching: false, error: undefined };
  const toControl = ({ id, name }: { readonly id: number; readonly name: string }) => ({
    id: `control ${id}`,
    label: name,
    action: { href: `/controls/${id}` },
  });
  const groups: readonly PaletteGroup[] = [
    {
      name: 'Controls',
      items: [...(control.data === undefined ? [] : [control.data]), ...(controls.data?.controls ?? [])].map(
        toControl,
      ),
    },
    {
      name: 'Agents',
      items: (agents.data?.agents ?? []).map(({ agentName }) => ({
        id: `agent ${agentName}`,
        label: agentName,
        action: { href: agentAddress(agentName) },
      })),
    },
    {
      name: 'Policies',
      items: (policies.data?.policies ?? []).map(({ id, name }) => ({
        id: `policy ${id}`,
        label: name,
        action: { href: `/policies/${id}` },
      })),
    },
    {
      name: 'Packs',
      items: (packs.data?.packs ?? [])
        .filter(({ name, title }) => matchesWords(`${title} ${name}`, text))
        .slice(0, MAX_FOUND)
        .map(({ name, title }) => ({
          id: `pack ${name}`,
          label: title,
          action: { href: packAddress(name) },
        })),
    },
    {
      name: 'Traces',
      items: (traces.data?.events ?? []).map(() => ({
        id: 'trace',
        label: text,
        action: { href: `/traces?id=${encodeURIComponent(text)}` },
      })),
    },
  ];
  return { groups, isSearching, error };
}
