import { IconMoon, IconSun } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { Link, useRoute } from 'wouter';
import { signOut } from '../api/session-requests.js';
import { useSession } from '../session/session-context.js';
import { useOnline } from '../shared/use-online.js';
import { useTheme } from '../theme/theme.js';
import { PAGES, type PageLink } from './pages.js';
import { ServerState } from './server-state.js';

/** The menu and the header around each page. */
export function Frame({ children }: { readonly children: ReactNode }) {
  const [theme, toggleTheme] = useTheme();
  const isOnline = useOnline();
  return (
    <div className="frame">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="top">
        <strong className="brand">Controls</strong>
        <ServerState />
        <button
          type="button"
          className="icon"
          onClick={toggleTheme}
          aria-label={`Use the ${theme === 'light' ? 'dark' : 'light'} theme`}
        >
          {theme === 'light' ? <IconMoon size={18} /> : <IconSun size={18} />}
        </button>
        <SessionMenu />
      </header>
      <nav className="menu" aria-label="Pages">
        <ul>
          {PAGES.map((page) => (
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
      </Link>
    </li>
  );
}

function SessionMenu() {
  const { state, reload } = useSession();
  const [problem, setProblem] = useState<string | null>(null);
  if (state.kind !== 'ready' || !state.keysRequired) return null;
  const leave = () => signOut().then(reload, (error: Error) => setProblem(error.message));
  return (
    <div className="session">
      <span className="role">{state.isAdmin ? 'admin' : 'regular key'}</span>
      <button type="button" onClick={leave}>
        Sign out
      </button>
      {problem !== null && <span role="alert">{problem}</span>}
    </div>
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
