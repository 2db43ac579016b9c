import { type Shadow, ShadowShareBy } from '@gen/enforcement/v1/shadow_service_pb.js';

/** Whose steps are compared, for example `10% of the agents`. */
export function shareText({ share, shareBy }: Pick<Shadow, 'share' | 'shareBy'>): string {
  const of = shareBy === ShadowShareBy.SESSION ? 'sessions' : 'agents';
  return share >= 1
    ? `all ${of}`
    : `${(share * 100).toLocaleString(undefined, { maximumFractionDigits: 2 })}% of the ${of}`;
}

type Counts = Pick<
  Shadow,
  'bothMatched' | 'neitherMatched' | 'onlyLiveMatched' | 'onlyShadowMatched' | 'liveFailed' | 'shadowFailed'
>;

/** Steps that were looked at. */
export function comparedSteps(shadow: Counts): bigint {
  return (
    shadow.bothMatched +
    shadow.neitherMatched +
    shadow.onlyLiveMatched +
    shadow.onlyShadowMatched +
    shadow.liveFailed +
    shadow.shadowFailed
  );
}
