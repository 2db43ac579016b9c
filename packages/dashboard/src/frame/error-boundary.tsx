import { Component, type ReactNode, useEffect, useState } from 'react';
import { isMissingFile, isNewVersionServed } from './new-version.js';

interface ErrorBoundaryProps {
  /** The error is gone when it changes. */
  readonly place: string;
  readonly children: ReactNode;
}

interface Caught {
  readonly error: unknown;
}

/** Shows what went wrong instead of a page that cannot be drawn. The menu stays usable. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly caught: Caught | null }> {
  static getDerivedStateFromError(error: unknown): { readonly caught: Caught } {
    return { caught: { error } };
  }

  override state = { caught: null as Caught | null };

  override componentDidUpdate({ place }: ErrorBoundaryProps): void {
    if (this.state.caught !== null && place !== this.props.place) this.setState({ caught: null });
  }

  override render(): ReactNode {
    const { caught } = this.state;
    return caught === null ? this.props.children : <Failure error={caught.error} />;
  }
}

function Failure({ error }: { readonly error: unknown }) {
  const [isOutdated, setOutdated] = useState(false);
  const isFile = isMissingFile(error);
  useEffect(() => {
    if (isFile) void isNewVersionServed().then(setOutdated);
  }, [isFile]);
  if (isOutdated) {
    return (
      <section className="state" role="alert">
        <h1>A new version of the dashboard is available</h1>
        <p>The service was updated while this page was open. Reload to continue at the same address.</p>
        <Reload />
      </section>
    );
  }
  return (
    <section className="state problem" role="alert">
      <h1>{isFile ? 'A part of the dashboard could not be loaded' : 'This page cannot be shown'}</h1>
      <p>{isFile ? 'Check the network, then reload.' : 'This is a fault of the dashboard.'}</p>
      <Reload />
      <Details error={error} />
    </section>
  );
}

function Reload() {
  return (
    <button type="button" className="primary" onClick={() => window.location.reload()}>
      Reload
    </button>
  );
}

/** What to send to those who mend it. */
function Details({ error }: { readonly error: unknown }) {
  const [isCopied, setCopied] = useState(false);
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const text = `${window.location.href}\n${navigator.userAgent}\n${stack}`;
  // Only secure pages may write to the clipboard.
  const { clipboard } = navigator as { readonly clipboard?: Clipboard };
  return (
    <details>
      <summary>Details</summary>
      <pre className="code">{text}</pre>
      {clipboard !== undefined && (
        <button type="button" onClick={() => void clipboard.writeText(text).then(() => setCopied(true))}>
          {isCopied ? 'Copied' : 'Copy details'}
        </button>
      )}
    </details>
  );
}
