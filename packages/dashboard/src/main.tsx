import { TransportProvider } from '@connectrpc/connect-query';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { createQueries } from './api/queries.js';
import { transport } from './api/transport.js';
import { App } from './app.js';
import { SessionProvider } from './session/session-context.js';
import { guardedNavigation } from './shared/leave-guard.js';
import { applyStoredTheme } from './theme/theme.js';
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
          <Router base="/ui" aroundNav={guardedNavigation}>
            <App />
          </Router>
        </SessionProvider>
      </QueryClientProvider>
    </TransportProvider>
  </StrictMode>,
);
