import { useQuery } from '@connectrpc/connect-query';
import { ServerService } from '../../../../gen/proto/enforcement/v1/server_service_pb.js';
import { Health, HealthCheckResponse_ServingStatus } from '../../../../gen/proto/grpc/health/v1/health_pb.js';

const REFRESH_MS = 10_000;

/** Health, revision and version of the server. */
export function ServerState() {
  const health = useQuery(Health.method.check, {}, { refetchInterval: REFRESH_MS });
  const info = useQuery(ServerService.method.getServerInfo, {}, { refetchInterval: REFRESH_MS });
  const word = healthWord(health.data?.status, health.isError);
  return (
    <div className="server-state">
      <span className={`health ${word}`}>
        <span className="dot" aria-hidden="true" />
        {word}
      </span>
      {info.data !== undefined && (
        <span className="muted" title={`Version ${info.data.version}`}>
          rev {String(info.data.revision)}
        </span>
      )}
    </div>
  );
}

function healthWord(status: HealthCheckResponse_ServingStatus | undefined, failed: boolean): string {
  if (failed) return 'unreachable';
  if (status === undefined) return 'checking';
  return status === HealthCheckResponse_ServingStatus.SERVING ? 'healthy' : 'unhealthy';
}
