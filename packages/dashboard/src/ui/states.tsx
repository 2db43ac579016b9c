import { Code, ConnectError } from '@connectrpc/connect';
import { type ReactNode, useContext } from 'react';
import { errorText } from './error-text.js';
import { RefusalNote } from './refusal-note.js';

export function Loading({ what }: { readonly what: string }) {
  return (
    <p className="state muted" role="status">
      Loading {what}…
    </p>
  );
}

/** A page or list without content. The children say how content comes into being. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <section className="state empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** Why something that the viewer wanted to do failed; nothing without an error. */
export function Problem({ error }: { readonly error: unknown }) {
  if (!error) return null;
  return (
    <p className="problem" role="alert">
      {errorText(error).detail}
    </p>
  );
}

interface ErrorStateProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
}

export function ErrorState({ error, onRetry }: ErrorStateProps) {
  const { title, detail } = errorText(error);
  const note = useContext(RefusalNote);
  return (
    <section className="state problem" role="alert">
      <h2>{title}</h2>
      <p>{detail}</p>
      {ConnectError.from(error).code === Code.PermissionDenied && note}
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </section>
  );
}

/** What a state needs of a query. */
export interface QueryLike<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly refetch: () => unknown;
}

interface QueryStateProps<T> {
  readonly query: QueryLike<T>;
  readonly what: string;
  readonly children: (data: T) => ReactNode;
}

/** Shows the data of a query, or that it is loading, or why it failed. Old data stays visible with the failure. */
export function QueryState<T>({ query, what, children }: QueryStateProps<T>) {
  const { data, error } = query;
  const failure = error ? <ErrorState error={error} onRetry={() => query.refetch()} /> : null;
  if (data === undefined) return failure ?? <Loading what={what} />;
  return (
    <>
      {failure}
      {children(data)}
    </>
  );
}
