import { TransportProvider } from '@connectrpc/connect-query';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { App } from './app.js';
import { createQueries } from './data/queries.js';
import { dashboardPath } from './data/rest-address.js';
import { transport } from './data/transport.js';
import { SessionProvider } from './session/session-context.js';
import { applyStoredTheme } from './theme/theme.js';
import { guardedNavigation } from './ui/page/leave-guard.js';
import './theme/theme.css';
import './theme/components.css';

applyStoredTheme();
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root element');
createRoot(root).render(
  <StrictMode>
    <TransportProvider transport={transport}>
      <QueryClientProvider client={createQueries()}>
        <SessionProvider>
          <Router base={dashboardPath} aroundNav={guardedNavigation}>
            <App />
          </Router>
        </SessionProvider>
      </QueryClientProvider>
    </TransportProvider>
  </StrictMode>,
);
