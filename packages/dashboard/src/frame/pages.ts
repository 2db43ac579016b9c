import {
  IconActivity,
  IconChartBar,
  IconFlask,
  IconHistory,
  IconListSearch,
  IconPuzzle,
  IconRobot,
  IconShieldCheck,
  IconStack2,
  IconTemplate,
  type TablerIcon,
} from '@tabler/icons-react';
import { useAgentLimit } from '../limited/agent-limit.js';
import { useIsAdmin } from '../session/session-context.js';

/** A page of the menu. */
export interface PageLink {
  readonly path: string;
  readonly name: string;
  readonly icon: TablerIcon;
  readonly isForAdmins?: true;
  /** Whether it shows more than a caller sees that is limited to agents. */
  readonly isBeyondAgents?: true;
}

export const PAGES: readonly PageLink[] = [
  { path: '/', name: 'Overview', icon: IconChartBar },
  { path: '/live', name: 'Live', icon: IconActivity },
  { path: '/events', name: 'Events', icon: IconListSearch },
  { path: '/agents', name: 'Agents', icon: IconRobot },
  { path: '/controls', name: 'Controls', icon: IconShieldCheck, isBeyondAgents: true },
  { path: '/policies', name: 'Policies', icon: IconStack2, isBeyondAgents: true },
  { path: '/templates', name: 'Templates', icon: IconTemplate, isBeyondAgents: true },
  { path: '/evaluators', name: 'Evaluators', icon: IconPuzzle },
  { path: '/playground', name: 'Playground', icon: IconFlask },
  { path: '/audit', name: 'Audit log', icon: IconHistory, isForAdmins: true, isBeyondAgents: true },
];

/** The pages that the caller can open. */
export function usePages(): readonly PageLink[] {
  const isAdmin = useIsAdmin();
  const isLimited = useAgentLimit() !== undefined;
  return PAGES.filter(
    ({ isForAdmins, isBeyondAgents }) =>
      (isAdmin || isForAdmins !== true) && !(isLimited && isBeyondAgents === true),
  );
}
