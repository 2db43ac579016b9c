import { lazy, Suspense } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { ErrorBoundary } from './frame/error-boundary.js';
import { Frame } from './frame/frame.js';
import { useSession } from './session/session-context.js';
import { SignInPage } from './session/sign-in-page.js';
import { Empty, ErrorState, Loading } from './shared/states.js';

const OverviewPage = lazy(() => import('./overview/overview-page.js'));
const LivePage = lazy(() => import('./live/live-page.js'));
const EventsPage = lazy(() => import('./events/events-page.js'));
const TracePage = lazy(() => import('./events/trace-page.js'));
const AgentsPage = lazy(() => import('./agents/agents-page.js'));
const AgentPage = lazy(() => import('./agents/agent-page.js'));
const ControlsPage = lazy(() => import('./controls/controls-page.js'));
const ControlPage = lazy(() => import('./controls/control-page.js'));
const PoliciesPage = lazy(() => import('./policies/policies-page.js'));
const PolicyPage = lazy(() => import('./policies/policy-page.js'));
const PlaygroundPage = lazy(() => import('./playground/playground-page.js'));

/** Shows the page of the address, or the page to sign in first. */
export function App() {
  const { state, reload } = useSession();
  const [path] = useLocation();
  if (state.kind === 'loading') return <Loading what="the session" />;
  if (state.kind === 'failed') {
    return (
      <main className="sign-in">
        <ErrorState error={state.error} onRetry={reload} />
      </main>
    );
  }
  if (state.kind === 'signed-out') return <SignInPage />;
  return (
    <Frame>
      <ErrorBoundary place={path}>
        <Suspense fallback={<Loading what="the page" />}>
          <Switch>
            <Route path="/" component={OverviewPage} />
            <Route path="/live" component={LivePage} />
            <Route path="/events" component={EventsPage} />
            <Route path="/traces" component={TracePage} />
            <Route path="/agents" component={AgentsPage} />
            <Route path="/agents/:name" component={AgentPage} />
            <Route path="/controls" component={ControlsPage} />
            <Route path="/controls/:id" component={ControlPage} />
            <Route path="/policies" component={PoliciesPage} />
            <Route path="/policies/:id" component={PolicyPage} />
            <Route path="/playground" component={PlaygroundPage} />
            <Route>
              <Empty title="Page not found">
                <p>No page of the dashboard has this address.</p>
              </Empty>
            </Route>
          </Switch>
        </Suspense>
      </ErrorBoundary>
    </Frame>
  );
}
