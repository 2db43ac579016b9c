import { Code, ConnectError } from '@connectrpc/connect';
import { lazy, Suspense } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { signOut } from './data/session-requests.js';
import { ErrorBoundary } from './frame/error-boundary.js';
import { Frame } from './frame/frame.js';
import { useMissingScope, useSeesOverview } from './frame/pages.js';
import { LimitNotice } from './limited/limit-notice.js';
import { useAgentLimit } from './session/agent-limit.js';
import { RefusedCaller } from './session/refusal-text.js';
import { useSession } from './session/session-context.js';
import { SignInDialog } from './session/sign-in-dialog.js';
import { SignInPage } from './session/sign-in-page.js';
import { SignOutDialog } from './session/sign-out-dialog.js';
import { RefusalNote } from './ui/refusal-note.js';
import { Empty, ErrorState, Loading } from './ui/states.js';

const MissingScope = lazy(() => import('./limited/missing-scope.js'));
const LimitedPages = lazy(() => import('./limited/limited-pages.js'));
const OverviewPage = lazy(() => import('./overview/overview-page.js'));
const LivePage = lazy(() => import('./live/live-page.js'));
const EventsPage = lazy(() => import('./events/events-page.js'));
const TracePage = lazy(() => import('./events/trace-page.js'));
const ApprovalsPage = lazy(() => import('./approvals/approvals-page.js'));
const ApprovalPage = lazy(() => import('./approvals/approval-page.js'));
const AgentsPage = lazy(() => import('./agents/agents-page.js'));
const AgentPage = lazy(() => import('./agents/agent-page.js'));
const CoveragePage = lazy(() => import('./coverage/coverage-page.js'));
const ControlsPage = lazy(() => import('./controls/controls-page.js'));
const ControlPage = lazy(() => import('./controls/control-page.js'));
const NewControlPage = lazy(() => import('./editor/new-control-page.js'));
const EditControlPage = lazy(() => import('./editor/edit-control-page.js'));
const PoliciesPage = lazy(() => import('./policies/policies-page.js'));
const PolicyPage = lazy(() => import('./policies/policy-page.js'));
const PacksPage = lazy(() => import('./packs/packs-page.js'));
const PackPage = lazy(() => import('./packs/pack-page.js'));
const TemplatesPage = lazy(() => import('./templates/templates-page.js'));
const NewTemplatePage = lazy(() => import('./templates/new-template-page.js'));
const TemplateValuesPage = lazy(() => import('./templates/template-values-page.js'));
const EvaluatorsPage = lazy(() => import('./evaluators/evaluators-page.js'));
const EvaluatorPage = lazy(() => import('./evaluators/evaluator-page.js'));
const LimitsPage = lazy(() => import('./limits/limits-page.js'));
const HaltsPage = lazy(() => import('./halts/halts-page.js'));
const ShadowsPage = lazy(() => import('./shadows/shadows-page.js'));
const SamplingPage = lazy(() => import('./samples/sampling-page.js'));
const AuditPage = lazy(() => import('./audit/audit-page.js'));
const PlaygroundPage = lazy(() => import('./playground/playground-page.js'));
const KeysPage = lazy(() => import('./keys/keys-page.js'));
const NewKeyPage = lazy(() => import('./keys/new-key-page.js'));
const KeyPage = lazy(() => import('./keys/key-page.js'));
const DestinationsPage = lazy(() => import('./destinations/destinations-page.js'));
const DestinationPage = lazy(() => import('./destinations/destination-page.js'));
const NamespacesPage = lazy(() => import('./namespaces/namespaces-page.js'));
const LimitedOverview = lazy(() => import('./limited/limited-overview.js'));

/** Shows the page of the address, or the page to sign in first. */
export function App() {
  const { state, ended, reload } = useSession();
  const [path] = useLocation();
  const limit = useAgentLimit();
  const missing = useMissingScope(path);
  const seesAll = useSeesOverview();
  if (state.kind === 'loading') return <Loading what="the session" />;
  if (state.kind === 'failed') {
    return (
      <main className="sign-in">
        <ErrorState error={state.error} onRetry={reload} />
        {ConnectError.from(state.error).code === Code.PermissionDenied && <OtherKey />}
      </main>
    );
  }
  if (state.kind === 'signed-out') return <SignInPage />;
  const pages = (
    <Switch>
      <Route path="/" component={seesAll ? OverviewPage : ScopedOverview} />
      <Route path="/live" component={LivePage} />
      <Route path="/events" component={EventsPage} />
      <Route path="/traces" component={TracePage} />
      <Route path="/approvals" component={ApprovalsPage} />
      <Route path="/approvals/:id" component={ApprovalPage} />
      <Route path="/agents" component={AgentsPage} />
      <Route path="/agents/:name" component={AgentPage} />
      <Route path="/coverage" component={CoveragePage} />
      <Route path="/controls" component={ControlsPage} />
      <Route path="/controls/new" component={NewControlPage} />
      <Route path="/controls/:id/edit" component={EditControlPage} />
      <Route path="/controls/:id/template" component={TemplateValuesPage} />
      <Route path="/controls/:id" component={ControlPage} />
      <Route path="/policies" component={PoliciesPage} />
      <Route path="/policies/:id" component={PolicyPage} />
      <Route path="/packs" component={PacksPage} />
      <Route path="/packs/:name" component={PackPage} />
      <Route path="/templates" component={TemplatesPage} />
      <Route path="/templates/new" component={NewTemplatePage} />
      <Route path="/evaluators" component={EvaluatorsPage} />
      <Route path="/evaluators/:name" component={EvaluatorPage} />
      <Route path="/limits" component={LimitsPage} />
      <Route path="/halts" component={HaltsPage} />
      <Route path="/shadows" component={ShadowsPage} />
      <Route path="/samples" component={SamplingPage} />
      <Route path="/audit" component={AuditPage} />
      <Route path="/playground" component={PlaygroundPage} />
      <Route path="/keys" component={KeysPage} />
      <Route path="/keys/new" component={NewKeyPage} />
      <Route path="/keys/:id" component={KeyPage} />
      <Route path="/destinations" component={DestinationsPage} />
      <Route path="/destinations/:id" component={DestinationPage} />
      <Route path="/namespaces" component={NamespacesPage} />
      <Route>
        <Empty title="Page not found">
          <p>No page of the dashboard has this address.</p>
        </Empty>
      </Route>
    </Switch>
  );
  return (
    <RefusalNote value={limit === undefined ? <RefusedCaller /> : <LimitNotice limit={limit} />}>
      <Frame>
        <ErrorBoundary place={path}>
          <Suspense fallback={<Loading what="the page" />}>
            {missing !== undefined ? (
              <MissingScope scope={missing} />
            ) : limit === undefined ? (
              pages
            ) : (
              <LimitedPages limit={limit} path={path}>
                {pages}
              </LimitedPages>
            )}
          </Suspense>
        </ErrorBoundary>
      </Frame>
      <SignOutDialog />
      {ended !== null && <SignInDialog reason={ended} />}
    </RefusalNote>
  );
}

/** Overview of a caller that may not read all of what it shows to others. */
function ScopedOverview() {
  return <LimitedOverview limit={undefined} />;
}

/** Leaves a session that may not even be asked for. */
function OtherKey() {
  const { leave } = useSession();
  return (
    <button type="button" className="primary" onClick={() => signOut().then(leave, leave)}>
      Use another key
    </button>
  );
}
