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
import { useIsAdmin } from '../session/session-context.js';

/** A page of the menu. */
export interface PageLink {
  readonly path: string;
  readonly name: string;
  readonly icon: TablerIcon;
  readonly isForAdmins?: true;
}

export const PAGES: readonly PageLink[] = [
  { path: '/', name: 'Overview', icon: IconChartBar },
  { path: '/live', name: 'Live', icon: IconActivity },
  { path: '/events', name: 'Events', icon: IconListSearch },
  { path: '/agents', name: 'Agents', icon: IconRobot },
  { path: '/controls', name: 'Controls', icon: IconShieldCheck },
  { path: '/policies', name: 'Policies', icon: IconStack2 },
  { path: '/templates', name: 'Templates', icon: IconTemplate },
  { path: '/evaluators', name: 'Evaluators', icon: IconPuzzle },
  { path: '/playground', name: 'Playground', icon: IconFlask },
  { path: '/audit', name: 'Audit log', icon: IconHistory, isForAdmins: true },
];

/** The pages that the caller can open. */
export function usePages(): readonly PageLink[] {
  const isAdmin = useIsAdmin();
  return PAGES.filter(({ isForAdmins }) => isAdmin || isForAdmins !== true);
}
