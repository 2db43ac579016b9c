import { Code, ConnectError } from '@connectrpc/connect';
import { useQuery } from '@connectrpc/connect-query';
import { type GetServerInfoResponse, ServerService } from '@gen/enforcement/v1/server_service_pb.js';
import { Health, HealthCheckResponse_ServingStatus } from '@gen/grpc/health/v1/health_pb.js';
import { type ListedProblem, type Verdict, verdictOf } from './verdict.js';

const REFRESH_MS = 5_000;
const PROBLEMS_REFRESH_MS = 15_000;

/** The server as it was at the last reply, and the verdict on the service. */
export interface ServerView extends Verdict {
  readonly info: GetServerInfoResponse | undefined;
  /** Time of the last reply with its state, in milliseconds since 1970; 0 before the first one. */
  readonly seenAtMs: number;
}

/**
 * Asks the server again and again how it is, also when the window gets the focus. Only the problems beyond its own state
 * need the database.
 */
export function useServer(): ServerView {
  const health = useQuery(Health.method.check, {}, { refetchInterval: REFRESH_MS });
  const info = useQuery(ServerService.method.getServerInfo, {}, { refetchInterval: REFRESH_MS });
  const mayList = info.data?.isLimitedToAgents === false;
  const problems = useQuery(
    ServerService.method.listProblems,
    {},
    {
      enabled: mayList,
      // While there are problems, the page looks more often whether they are gone.
      refetchInterval: ({ state: { data } }) => (data?.working === false ? REFRESH_MS : PROBLEMS_REFRESH_MS),
    },
  );
  const status = health.data?.status;
  const known = {
    isUnreachable: health.isError || info.isError,
    isServing: status === undefined ? undefined : status === HealthCheckResponse_ServingStatus.SERVING,
    state: info.data?.state,
  };
  const listed = problems.error === null ? problems.data?.problems : unlisted(problems.error);
  const verdict = verdictOf(known, info.data?.isLimitedToAgents === true ? null : listed);
  return { ...verdict, info: info.data, seenAtMs: info.dataUpdatedAt };
}

/** What stands for a list that the server does not give. */
function unlisted(error: ConnectError): readonly ListedProblem[] | null {
  const { code, rawMessage } = ConnectError.from(error);
  // A server of an earlier version has no such list, and some callers may not see it.
  if (code === Code.Unimplemented || code === Code.PermissionDenied) return null;
  return [
    {
      kind: 'not_listed',
      severity: 2,
      title: 'It is not known whether agents and controls have problems',
      detail: rawMessage,
      count: 0,
      subjects: [],
    },
  ];
}
