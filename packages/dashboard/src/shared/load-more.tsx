interface LoadMoreProps {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => unknown;
  readonly shown: number;
  readonly total: number;
}

/** The number of rows, and a button for the next ones. */
export function LoadMore({ hasNextPage, isFetchingNextPage, fetchNextPage, shown, total }: LoadMoreProps) {
  return (
    <div className="load-more">
      <span className="muted" role="status">
        {shown.toLocaleString()} of {total.toLocaleString()}
      </span>
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {isFetchingNextPage ? 'Loading…' : 'Load more'}
        </button>
      )}
    </div>
  );
}
