import { useQuery } from '@connectrpc/connect-query';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import type { ChartMark } from './chart-marks.js';

const LATEST = 20;

/** The latest versions of a control, as marks of its chart. None without a control, or without versions. */
export function useVersionMarks(controlId: number | undefined): readonly ChartMark[] {
  const { data } = useQuery(
    ControlService.method.listControlVersions,
    { controlId: controlId ?? 0, limit: LATEST },
    { enabled: controlId !== undefined, retry: false },
  );
  return (data?.versions ?? []).map(({ versionNum, createdAt }) => ({
    atMs: Date.parse(createdAt),
    text: `version ${versionNum}`,
    href: `/controls/${controlId}?tab=versions${versionNum > 1 ? `&from=${versionNum - 1}&to=${versionNum}` : ''}`,
  }));
}
