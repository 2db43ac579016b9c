import { useQuery } from '@connectrpc/connect-query';
import { ServerService } from '@gen/enforcement/v1/server_service_pb.js';

/** Which results of its own evaluations the service records: `none`, `matches` or `all`; undefined if it is not known. */
export function useRecordedResults(): string | undefined {
  return useQuery(ServerService.method.getServerInfo, {}).data?.state?.recordedResults || undefined;
}
