import type { DescMessage, DescMethod, MessageShape } from '@bufbuild/protobuf';
import { type ConnectRouter, createConnectRouter } from '@connectrpc/connect';
import { TransportProvider } from '@connectrpc/connect-query';
import { ApprovalService } from '@gen/enforcement/v1/approval_service_pb.js';
import { ServerService } from '@gen/enforcement/v1/server_service_pb.js';
import { Health, HealthCheckResponse_ServingStatus } from '@gen/grpc/health/v1/health_pb.js';
import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, configure, render, screen, waitFor } from '@testing-library/react';
import { PointerEventsCheckLevel, type UserEvent, userEvent } from '@testing-library/user-event';
import { expect, onTestFinished } from 'vitest';
import { Router } from 'wouter';
import { roleNamed, scopesOf } from '../../../../src/contract/call/scopes.js';
import { App } from '../../src/app.js';
import { newIdempotencyKey } from '../../src/data/idempotency-key.js';
import { createQueries } from '../../src/data/queries.js';
import { transport } from '../../src/data/transport.js';
import { SessionProvider } from '../../src/session/session-context.js';
import { guardedNavigation, releasePage } from '../../src/ui/page/leave-guard.js';
import { forgetShownPage } from '../../src/ui/page/page.js';
import { forgetRange } from '../../src/ui/range/use-range.js';
import { dismissAllToasts } from '../../src/undo/undo-store.js';

// The time only ends what hangs: on a busy machine everything takes its time. The tree of a page is too long to be read.
configure({
  asyncUtilTimeout: 60_000,
  getElementError(message) {
    return new Error(`${message?.split('\n\n', 1)[0]}\n\nThe page says: ${document.body.textContent}`);
  },
});

/** Adds implementations of the RPCs that a page calls: `({ rpc }) => rpc(HaltService.method.listHalts, () => …)`. */
export type Backend = (router: ConnectRouter) => void;

/** An HTTP request that is no RPC. */
export interface PlainRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly body: string;
}

export interface PageOptions {
  /** Role of the caller, `admin` by default; null: the service requires no keys. */
  readonly role?: 'viewer' | 'regular' | 'editor' | 'admin' | 'operator' | null;
  readonly callerName?: string;
  /** Answers a request that is no RPC, for example of an export; undefined: nothing is there. */
  readonly plain?: (request: PlainRequest) => string | undefined;
}

/** The dashboard as a test sees it, besides `screen`. */
export interface ShownPage {
  readonly user: UserEvent;
  /** The requests of an RPC until now, in their order. */
  sent<I extends DescMessage>(method: DescMethod & { readonly input: I }): MessageShape<I>[];
  /** Path and query of the page that is shown, without the base of the dashboard. */
  address(): string;
}

/**
 * Shows the dashboard at an address, as `main.tsx` does, over a scripted backend in this process. Calls go through the
 * transport of the dashboard and its serialization; an RPC without an implementation is answered with UNIMPLEMENTED. After
 * the test, the page is gone; the test fails if an error or a warning was written to the console.
 */
export function renderPage(path: string, backend: Backend, options: PageOptions = {}): ShownPage {
  const calls: { readonly method: DescMethod; readonly request: unknown }[] = [];
  const router = createConnectRouter({
    interceptors: [
      (next) => (call) => {
        if (!call.stream) calls.push({ method: call.method, request: call.message });
        return next(call);
      },
    ],
  });
  backend(router);
  addFrame(router, options);
  const restoreFetch = replaceFetch(router, options);
  const restoreContext = leaveSecureContext();
  const endOfConsole = watchConsole();
  const queries = createQueries();
  window.history.replaceState(null, '', `/ui${path}`);
  render(
    <TransportProvider transport={transport}>
      <QueryClientProvider client={queries}>
        <SessionProvider>
          <Router base="/ui" aroundNav={guardedNavigation}>
            <App />
          </Router>
        </SessionProvider>
      </QueryClientProvider>
    </TransportProvider>,
  );
  onTestFinished(() => {
    cleanup();
    queries.clear();
    releasePage();
    dismissAllToasts();
    forgetShownPage();
    forgetRange();
    localStorage.clear();
    sessionStorage.clear();
    restoreFetch();
    restoreContext();
    expect(endOfConsole()).toEqual([]);
  });
  return {
    user: setUpUser(),
    sent: <I extends DescMessage>(method: DescMethod & { readonly input: I }) =>
      calls.filter((call) => call.method === method).map(({ request }) => request as MessageShape<I>),
    address: () => `${window.location.pathname.slice('/ui'.length)}${window.location.search}`,
  };
}

/** Waits until the page that is shown has loaded its data. */
export async function settled(): Promise<void> {
  await screen.findByRole('heading', { level: 1 });
  await waitFor(() => expect(screen.queryAllByText(/^Loading/)).toEqual([]));
}

/** The dialog that is open, the latest of several. */
export async function openDialog(): Promise<HTMLElement> {
  const open = () =>
    screen.queryAllByRole('dialog').filter((one) => !(one instanceof HTMLDialogElement) || one.open);
  return waitFor(() => {
    const dialog = open().at(-1);
    if (dialog === undefined) throw new Error('no dialog is open');
    return dialog;
  });
}

/** Waits until no dialog is open. */
export async function noDialog(): Promise<void> {
  await waitFor(() => {
    if (document.querySelector('dialog[open], [role="dialog"]') !== null) throw new Error('a dialog is open');
  });
}

/** Where something was pressed last, in this test or one before it: the dashboard remembers it. */
let clientX = 0;

/** A viewer who presses each element at a place of its own, as nothing is laid out here. */
function setUpUser(): UserEvent {
  // Whether something can be pressed by its style is for a browser to say.
  const user = userEvent.setup({ delay: null, pointerEventsCheck: PointerEventsCheckLevel.Never });
  return {
    ...user,
    click(target) {
      // The dashboard takes two quick clicks at the same place for a double click.
      clientX += 100;
      return user.pointer({ keys: '[MouseLeft]', target, coords: { clientX, clientY: 0 } });
    },
  };
}

/** What the frame around each page asks for, unless the test answers it itself. */
function addFrame({ rpc }: ConnectRouter, { role = 'admin', callerName }: PageOptions): void {
  rpc(Health.method.check, () => ({ status: HealthCheckResponse_ServingStatus.SERVING }));
  rpc(ServerService.method.listProblems, () => ({ working: true }));
  rpc(ServerService.method.getServerInfo, () => ({
    version: '1.2.3',
    revision: 7n,
    namespace: 'default',
    namespaces: ['default'],
    state: { databaseUp: true, eventsEnabled: true, recordedResults: 'all' },
    ...(role === null
      ? { isAdmin: true }
      : {
          role,
          isAdmin: role === 'admin' || role === 'operator',
          // What one test stores for its caller, as a draft, is not found by the next one.
          callerFingerprint: newIdempotencyKey(),
          scopes: scopesOf(roleNamed(role)?.scopes ?? 0n),
        }),
    ...(callerName === undefined ? {} : { callerName }),
  }));
  rpc(ApprovalService.method.listApprovals, () => ({}));
  rpc(ApprovalService.method.watchApprovals, async function* (_request, { signal }) {
    yield { news: { case: 'heartbeat' as const, value: {} } };
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  });
}

/** Has the requests of the page answered by the router, until it is called. */
function replaceFetch(router: ConnectRouter, { role, plain }: PageOptions): () => void {
  const before = globalThis.fetch;
  const reply = (status: number, header: Headers, body: AsyncIterable<Uint8Array> | string) => ({
    ok: status < 300,
    status,
    headers: header,
    body: streamOf(typeof body === 'string' ? encoded(body) : body),
    text: async () => String(body),
    json: async () => JSON.parse(String(body)) as unknown,
  });
  const answer = async (address: string | URL, init: RequestInit = {}) => {
    const { pathname, search } = new URL(address, window.location.href);
    const { method = 'GET', body } = init;
    const signal = init.signal ?? new AbortController().signal;
    const handler = router.handlers.find(({ requestPath }) => requestPath === pathname);
    if (handler !== undefined) {
      const header = new Headers(init.headers);
      const request = { httpVersion: '1.1', method, url: pathname, header, body: encoded(body), signal };
      const { status, header: replied = new Headers(), body: content = '' } = await handler(request);
      return reply(status, replied, content);
    }
    if (pathname === '/api/config') {
      const session = { requires_api_key: role !== null, has_active_session: role !== null };
      return reply(200, new Headers(), JSON.stringify(session));
    }
    const text = plain?.({
      method,
      path: `${pathname}${search}`,
      body: typeof body === 'string' ? body : '',
    });
    return reply(text === undefined ? 404 : 200, new Headers(), text ?? '');
  };
  globalThis.fetch = answer as typeof globalThis.fetch;
  return () => {
    globalThis.fetch = before;
  };
}

/** Has the page be one over plain HTTP, where browsers have neither locks nor keys: nor has happy-dom. */
function leaveSecureContext(): () => void {
  Object.defineProperty(navigator, 'locks', { value: undefined, configurable: true });
  Object.defineProperty(globalThis, 'isSecureContext', { value: false, configurable: true });
  // Toasts are in the top layer of a browser; here, they are just there.
  Object.assign(HTMLElement.prototype, { showPopover: () => undefined, hidePopover: () => undefined });
  return () => {
    Reflect.deleteProperty(HTMLElement.prototype, 'showPopover');
    Reflect.deleteProperty(HTMLElement.prototype, 'hidePopover');
    Reflect.deleteProperty(navigator, 'locks');
    Reflect.deleteProperty(globalThis, 'isSecureContext');
  };
}

async function* encoded(body: BodyInit | null | undefined): AsyncIterable<Uint8Array> {
  if (typeof body === 'string') yield new TextEncoder().encode(body);
  else if (body instanceof Uint8Array) yield body;
}

function streamOf(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}

/**
 * That happy-dom does not know the element `search`, and hints of React for pages that are parsed: those of the dashboard are
 * made of elements, in which a paragraph may have a dialog.
 */
const NOT_OF_THE_PAGE =
  /is unrecognized in this browser.* search$|cannot be a descendant of|cannot contain a nested/;

/** Notes what is written to the console as an error or warning. Returns what ends it and gives the notes. */
function watchConsole(): () => readonly string[] {
  const { error, warn } = console;
  const problems: string[] = [];
  const note = (...parts: readonly unknown[]): void => {
    const text = parts.map(String).join(' ');
    if (!NOT_OF_THE_PAGE.test(text)) problems.push(text);
  };
  Object.assign(console, { error: note, warn: note });
  return () => {
    Object.assign(console, { error, warn });
    return problems;
  };
}
