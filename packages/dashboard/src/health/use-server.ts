import { useQuery } from '@connectrpc/connect-query';
import { type GetServerInfoResponse, ServerService } from '@gen/enforcement/v1/server_service_pb.js';
import { Health, HealthCheckResponse_ServingStatus } from '@gen/grpc/health/v1/health_pb.js';
import {
  type HealthWord,
  healthWord,
  type KnownServer,
  type ServerProblem,
  serverProblems,
} from './server-problems.js';

const REFRESH_MS = 5_000;

/** The server as it was at the last request. */
export interface ServerView {
  readonly info: GetServerInfoResponse | undefined;
  readonly word: HealthWord;
  readonly problems: readonly ServerProblem[];
}

/** Asks the server for its state again and again. Neither request needs the database. */
export function useServer(): ServerView {
  const health = useQuery(Health.method.check, {}, { refetchInterval: REFRESH_MS });
  const info = useQuery(ServerService.method.getServerInfo, {}, { refetchInterval: REFRESH_MS });
  const status = health.data?.status;
  const known: KnownServer = {
    isUnreachable: health.isError || info.isError,
    isServing: status === undefined ? undefined : status === HealthCheckResponse_ServingStatus.SERVING,
    state: info.data?.state,
  };
  return { info: info.data, word: healthWord(known), problems: serverProblems(known) };
}
