import {
  IconKeyboard,
  IconMenu2,
  IconMoon,
  IconSearch,
  IconShieldCheckFilled,
  IconSun,
} from '@tabler/icons-react';
import { type KeyboardEvent, lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { Link, useLocation, useRoute } from 'wouter';
import { useSession } from '../session/session-context.js';
import { useTheme } from '../theme/theme.js';
import { useOnline } from '../ui/browser/use-online.js';
import { UndoToasts } from '../undo/undo-toasts.js';
import './frame.css';
import { COMMAND_KEY } from './command-key.js';
import { useFrameDialogs } from './frame-dialogs.js';
import { IdentityMenu } from './identity-menu.js';
import { NamespaceMenu } from './namespace-menu.js';
import { type PageLink, usePages } from './pages.js';
import { ServerState } from './server-state.js';

const ApprovalNews = lazy(() => import('../approvals/approval-news.js'));
const PendingBadge = lazy(() => import('../approvals/pending-badge.js'));
const APPROVALS = '/approvals';

/** The menu and the header around each page. */
export function Frame({ children }: { readonly children: ReactNode }) {
  const [theme, toggleTheme] = useTheme();
  const [path] = useLocation();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { dialogs, openPalette, openShortcuts } = useFrameDialogs();
  const isOnline = useOnline();
  const pages = usePages();
  const hasApprovals = pages.some((page) => page.path === APPROVALS);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it closes when another page is opened
  useEffect(() => setMenuOpen(false), [path]);
  const onMenuKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') setMenuOpen(false);
  };
  return (
    <div className="frame">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="top">
        <button
          type="button"
          className="icon menu-toggle"
          aria-expanded={isMenuOpen}
          aria-controls="menu"
          onClick={() => setMenuOpen((before) => !before)}
          onKeyDown={onMenuKey}
        >
          <IconMenu2 size={18} aria-hidden="true" />
          <span className="visually-hidden">Menu</span>
          <Suspense>{hasApprovals && <PendingBadge />}</Suspense>
        </button>
        <Link className="brand" href="/">
          <IconShieldCheckFilled size={20} aria-hidden="true" />
          Control Enforcement
        </Link>
        <NamespaceMenu />
        <ServerState />
        <button type="button" className="icon search-button" onClick={openPalette}>
          <IconSearch size={18} aria-hidden="true" />
          <span className="visually-hidden">Search</span>
          <span className="keys" aria-hidden="true">
            {COMMAND_KEY} K
          </span>
        </button>
        <button
          type="button"
          className="icon keyboard-button"
          aria-label="Keyboard shortcuts"
          onClick={openShortcuts}
        >
          <IconKeyboard size={18} />
        </button>
        <button
          type="button"
          className="icon"
          onClick={toggleTheme}
          aria-label={`Use the ${theme === 'light' ? 'dark' : 'light'} theme`}
        >
          {theme === 'light' ? <IconMoon size={18} /> : <IconSun size={18} />}
        </button>
        <IdentityMenu />
      </header>
      <nav id="menu" className={isMenuOpen ? 'menu open' : 'menu'} aria-label="Pages" onKeyDown={onMenuKey}>
        <ul>
          {pages.map((page) => (
            <MenuItem key={page.path} page={page} />
          ))}
        </ul>
      </nav>
      <main id="content" tabIndex={-1}>
        <KeysOffWarning />
        {!isOnline && (
          <p className="notice" role="status">
            The browser is offline. The page shows what was loaded before and continues when the network is
            back.
          </p>
        )}
        {children}
      </main>
      {dialogs}
      <Suspense>{hasApprovals && <ApprovalNews />}</Suspense>
      <UndoToasts />
    </div>
  );
}

function MenuItem({ page }: { readonly page: PageLink }) {
  const [isHere] = useRoute(page.path);
  const [isBelow] = useRoute(`${page.path === '/' ? '/overview' : page.path}/*?`);
  const Icon = page.icon;
  return (
    <li>
      <Link href={page.path} aria-current={isHere || isBelow ? 'page' : undefined}>
        <Icon size={18} aria-hidden="true" />
        {page.name}
        <Suspense>{page.path === APPROVALS && <PendingBadge />}</Suspense>
      </Link>
    </li>
  );
}

function KeysOffWarning() {
  const { state } = useSession();
  if (state.kind !== 'ready' || state.keysRequired) return null;
  return (
    <p className="notice">
      This service requires no keys: everyone who reaches this address can read and change everything. Set{' '}
      <code>SERVICE_API_KEY_ENABLED=true</code> outside of local development.
    </p>
  );
}
