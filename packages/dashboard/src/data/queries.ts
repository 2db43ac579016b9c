import { Code, ConnectError } from '@connectrpc/connect';
import { QueryClient } from '@tanstack/react-query';

const MAX_RETRIES = 2;
const TRANSIENT = new Set([Code.Unavailable, Code.ResourceExhausted, Code.Aborted]);

/** The cache of all unary RPCs. Errors of the caller are not retried. */
export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: (failures, error) => failures < MAX_RETRIES && TRANSIENT.has(ConnectError.from(error).code),
      },
    },
  });
}
