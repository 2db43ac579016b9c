import {
  IconActivity,
  IconBell,
  IconBuildingCommunity,
  IconChartBar,
  IconFlask,
  IconGauge,
  IconGhost2,
  IconHandStop,
  IconHistory,
  IconKey,
  IconListSearch,
  IconPackage,
  IconPuzzle,
  IconRadar2,
  IconRobot,
  IconShieldCheck,
  IconStack2,
  IconTemplate,
  IconTestPipe,
  IconUserCheck,
  type TablerIcon,
} from '@tabler/icons-react';
import type { Scope } from '../session/scopes.js';
import { useIsLimited, useMay, useSession } from '../session/session-context.js';

/** A page of the menu. */
export interface PageLink {
  readonly path: string;
  readonly name: string;
  readonly icon: TablerIcon;
  /** Its callers have one of these scopes. Absent: it is for everyone. */
  readonly scopes?: readonly Scope[];
  /** The scopes for callers that are limited to agents, if they are others. */
  readonly limitedScopes?: readonly Scope[];
  /** Whether it shows more than a caller sees that is limited to agents. */
  readonly isBeyondAgents?: true;
}

const OF_AN_AGENT: readonly Scope[] = ['agents.read', 'agents.self'];

export const PAGES: readonly PageLink[] = [
  { path: '/', name: 'Overview', icon: IconChartBar },
  { path: '/live', name: 'Live', icon: IconActivity, scopes: ['events.read'] },
  { path: '/events', name: 'Events', icon: IconListSearch, scopes: ['events.read'] },
  {
    path: '/approvals',
    name: 'Approvals',
    icon: IconUserCheck,
    scopes: ['approvals.read'],
    isBeyondAgents: true,
  },
  {
    path: '/agents',
    name: 'Agents',
    icon: IconRobot,
    scopes: ['agents.read'],
    limitedScopes: OF_AN_AGENT,
  },
  {
    path: '/coverage',
    name: 'Coverage',
    icon: IconRadar2,
    scopes: ['agents.read'],
    isBeyondAgents: true,
  },
  {
    path: '/controls',
    name: 'Controls',
    icon: IconShieldCheck,
    scopes: ['controls.read'],
    isBeyondAgents: true,
  },
  {
    path: '/policies',
    name: 'Policies',
    icon: IconStack2,
    scopes: ['policies.read'],
    isBeyondAgents: true,
  },
  {
    path: '/packs',
    name: 'Packs',
    icon: IconPackage,
    scopes: ['controls.read'],
    isBeyondAgents: true,
  },
  {
    path: '/templates',
    name: 'Templates',
    icon: IconTemplate,
    scopes: ['controls.read'],
    isBeyondAgents: true,
  },
  {
    path: '/evaluators',
    name: 'Evaluators',
    icon: IconPuzzle,
    scopes: ['controls.read', 'agents.self'],
  },
  {
    path: '/shadows',
    name: 'Shadows',
    icon: IconGhost2,
    scopes: ['controls.read'],
    isBeyondAgents: true,
  },
  {
    path: '/samples',
    name: 'Samples',
    icon: IconTestPipe,
    scopes: ['samples.read', 'samples.write'],
    isBeyondAgents: true,
  },
  { path: '/limits', name: 'Limits', icon: IconGauge, scopes: ['memory.read'], isBeyondAgents: true },
  { path: '/halts', name: 'Halts', icon: IconHandStop, scopes: ['halts.read'], isBeyondAgents: true },
  { path: '/playground', name: 'Playground', icon: IconFlask, scopes: ['explain'] },
  { path: '/audit', name: 'Audit log', icon: IconHistory, scopes: ['audit.read'], isBeyondAgents: true },
  { path: '/keys', name: 'Keys and people', icon: IconKey, scopes: ['keys.read'], isBeyondAgents: true },
  {
    path: '/destinations',
    name: 'Notifications',
    icon: IconBell,
    scopes: ['notifications.read'],
    isBeyondAgents: true,
  },
  {
    path: '/namespaces',
    name: 'Namespaces',
    icon: IconBuildingCommunity,
    scopes: ['namespaces.read'],
    isBeyondAgents: true,
  },
];

/** Pages without a place in the menu, or that need less than the one above them. */
const OTHERS: readonly Pick<PageLink, 'path' | 'scopes'>[] = [
  { path: '/traces', scopes: ['events.read'] },
  { path: '/agents/', scopes: OF_AN_AGENT },
  // It says who the caller is, too.
  { path: '/keys' },
];

/** The pages that the caller can open. */
export function usePages(): readonly PageLink[] {
  const isLimited = useIsLimited();
  const needs = useNeeds();
  return PAGES.filter(
    ({ scopes, limitedScopes, isBeyondAgents }) =>
      needs((isLimited ? limitedScopes : undefined) ?? scopes) === undefined &&
      !(isLimited && isBeyondAgents === true),
  );
}

/** The scope that the caller lacks for the page of an address; undefined if it may see it. */
export function useMissingScope(path: string): Scope | undefined {
  const isLimited = useIsLimited();
  const needs = useNeeds();
  const isOf = ({ path: page }: Pick<PageLink, 'path'>) =>
    path === page || path.startsWith(page.endsWith('/') ? page : `${page}/`);
  const other = OTHERS.find(isOf);
  if (other !== undefined) return needs(other.scopes);
  const page = PAGES.find((one) => one.path !== '/' && isOf(one));
  return needs((isLimited ? page?.limitedScopes : undefined) ?? page?.scopes);
}

/** Whether the caller may read all that Overview shows. */
export function useSeesOverview(): boolean {
  const scopes = [useMay('events.read'), useMay('agents.read'), useMay('controls.read')];
  return scopes.every((may) => may);
}

/** Says which of some scopes the caller lacks: the first, if it has none of them. */
function useNeeds(): (scopes: readonly Scope[] | undefined) => Scope | undefined {
  const { state } = useSession();
  return (scopes) => {
    if (scopes === undefined || state.kind !== 'ready' || state.scopes === 'all') return undefined;
    const { scopes: own } = state;
    return scopes.some((scope) => own.has(scope)) ? undefined : scopes[0];
  };
}
